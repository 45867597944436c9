import { expect } from 'chai';
import { type Account, accountOf, noteConsoleSeen } from '../../../shared/accounts/account.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import type { ListedRide } from '../../../shared/rides/list-rides.ts';
import type { RideStatus } from '../../../shared/rides/ride-types.ts';
import { concernsOf } from '../../../web/dashboard/attention.tsx';
import { storedAttempts } from '../../support/attempts.ts';
import { clientOf } from '../../support/client.ts';
import { useVisitor } from '../../support/dashboard.ts';
import { hrefsIn, textOf } from '../../support/pages.ts';
import { useTestApi } from '../../support/service.ts';

describe('the dashboard: overview', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const ridesWith = async (secret: string, count: number) => {
    for (let made = 0; made < count; made += 1) await clientOf(api.url, secret).createRide();
  };
  const overview = async () => (await visitor.get('/dashboard')).html;
  /** The classes of the onboarding steps, in order. */
  const steps = (html: string) => [...html.matchAll(/<li class="(done|next|later)"/g)].map(([, state]) => state);

  it('the overview shows an empty account the steps test key, webhook URL or console, and first ride', async () => {
    const html = await overview();
    expect(steps(html)).to.deep.equal(['next', 'later', 'later']);
    expect(html).to.include('href="/dashboard/keys/new?mode=test"').and.include('href="/dashboard/console"');
    expect(html).to.include('curl https://rides.example/v1/rides');
  });

  it('the overview ticks each onboarding step when it is done, in any order', async () => {
    const { keyId, key: secret } = await visitor.newKey();
    expect(steps(await overview())).to.deep.equal(['done', 'next', 'later']);
    await ridesWith(secret, 1);
    expect(steps(await overview())).to.deep.equal(['done', 'next', 'done']);
    await visitor.post(`/dashboard/keys/${keyId}/webhook-url`, { webhookUrl: 'https://partner.example/hook' });
    const html = await overview();
    expect(steps(html)).to.deep.equal(['done', 'done', 'done']);
    expect(html).to.match(/<p>Ready for real drivers.*Create live key/);
  });

  it('the overview ticks the second onboarding step when the console was opened', async () => {
    await noteConsoleSeen(visitor.account, api.ctx.now());
    expect(steps(await overview())).to.deep.equal(['next', 'done', 'later']);
    const first = (await accountOf(visitor.account.email)) as Account;
    await noteConsoleSeen(first, api.ctx.now() + 60_000);
    expect((await accountOf(visitor.account.email)).consoleSeenAt).to.deep.equal(first.consoleSeenAt);
  });

  it('the overview hides the onboarding steps after the first live ride', async () => {
    await ridesWith((await visitor.newKey('live')).key, 1);
    expect(steps(await overview())).to.deep.equal([]);
  });

  it('shows the rides under way, the last ten ended rides and the delivery rate', async () => {
    const { keyId } = await visitor.newKey('live', 'Airport');
    for (let ride = 0; ride < 11; ride += 1) await visitor.rideIn('completed', { keyId });
    const moving = await visitor.rideIn('in_progress', { keyId, passenger: { name: 'Ada Lovelace' } });
    const attempt = { keyId, accountId: visitor.account._id, rideId: moving.rideId, durationMs: 80 };
    await storedAttempts([...Array(3).fill(attempt), { ...attempt, outcome: 'failed' }], api.ctx.now() - 60_000);
    const html = await overview();
    const ridesIn = (part: string) => hrefsIn(part).filter((href) => /\/rides\/ride_/.test(href));
    const [, underWay = '', last = ''] = html.split('<table class="table rides cards"');
    expect(ridesIn(underWay)).to.deep.equal([`/dashboard/rides/${moving.rideId}`]);
    expect(underWay).to.include('Ada Lovelace').and.include('Airport');
    expect(new Set(ridesIn(last)).size).to.equal(10);
    expect(last).not.to.include(moving.rideId);
    expect(textOf(html)).to.include('Rides under way 1 ').and.include('75 % 3 of 4').and.include('80 ms median');
    expect(textOf(html)).to.include('Nothing needs attention.');
  });

  it('names the rides that need a person, live ones first', async () => {
    await visitor.rideIn('bidding', { mode: 'test', scenario: 'no_auto_accept', reference: 'Test booking' });
    await visitor.rideIn('bidding', { reference: 'Room 12', offers: [{}, {}] });
    const html = await overview();
    const list = html.split('<ul class="attention">')[1]?.split('</ul>')[0] ?? '';
    const items = list.split('<li').slice(1).map(textOf);
    expect(items[0]).to.include('Room 12').and.include('2 offers to choose from, until');
    expect(items[1]).to.include('Test booking').and.include('1 offer to choose from');
    expect(items).to.have.lengthOf(2);
  });

  it('a ride needs a person while something can be done, or up to an hour after its end', () => {
    const now = Date.UTC(2026, 1, 4, 12);
    const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000);
    const ride = (status: RideStatus, changes: Partial<ListedRide> = {}) =>
      ({
        ...{ _id: `ride_${status}`, mode: 'live', status, statusAt: minutesAgo(1), createdAt: minutesAgo(1) },
        ...{ biddingEndsAt: new Date(now + 9 * 60_000), liveOffers: 0, missed: [], ...changes },
      }) as ListedRide;
    const autoAccept = { maxPrice: 20 };
    const cases: [ride: ListedRide, text: string | undefined][] = [
      [ride('bidding'), undefined],
      [ride('bidding', { createdAt: minutesAgo(20) }), 'No offer yet'],
      [ride('bidding', { liveOffers: 3 }), '3 offers to choose from'],
      [ride('bidding', { liveOffers: 1, autoAccept }), '1 offer, none within the limits of auto-accept'],
      [
        ride('bidding', { liveOffers: 1, autoAccept: { ...autoAccept, waitSeconds: 60 } }),
        '1 offer, none accepted automatically yet',
      ],
      [ride('bidding', { createdAt: minutesAgo(900), biddingOpensAt: minutesAgo(-1) }), undefined],
      [
        ride('bidding', { createdAt: minutesAgo(900), biddingOpensAt: minutesAgo(1), openedAt: minutesAgo(1) }),
        undefined,
      ],
      [
        ride('bidding', { createdAt: minutesAgo(900), biddingOpensAt: minutesAgo(20), openedAt: minutesAgo(20) }),
        'No offer yet',
      ],
      [ride('bidding', { liveOffers: 3, biddingEndsAt: minutesAgo(1) }), undefined],
      [ride('driver_arriving'), undefined],
      [ride('arrived'), undefined],
      [ride('arrived', { statusAt: minutesAgo(7) }), 'The driver has been waiting for 7 min'],
      // Before the time of its pickup, the passenger is not expected.
      [ride('arrived', { statusAt: minutesAgo(17), pickupAt: minutesAgo(4) }), undefined],
      [ride('arrived', { statusAt: minutesAgo(17), pickupAt: minutesAgo(6) }), 'The driver has been waiting for 6 min'],
      [ride('in_progress', { missed: [1, 2] }), '2 events did not arrive'],
      [ride('completed', { missed: [1] }), '1 event did not arrive'],
      [ride('completed', { missed: [1], statusAt: minutesAgo(61) }), undefined],
      [ride('cancelled', { cancelledBy: 'partner' }), undefined],
      [ride('cancelled', { cancelledBy: 'driver' }), 'The driver cancelled'],
      [ride('cancelled', { cancelledBy: 'driver', replacedBy: 'ride_2' }), undefined],
      [ride('cancelled', { cancelledBy: 'driver', mode: 'test' }), undefined],
      [ride('cancelled', { cancelledBy: 'timeout' }), 'Cancelled: no offer was accepted in time'],
      [ride('cancelled', { cancelledBy: 'timeout', agreedPrice: 9 }), 'Cancelled: the trip made no progress'],
    ];
    for (const [each, text] of cases) {
      expect(concernsOf([each, each], now)[0]?.text, JSON.stringify(each)).to.equal(text);
      expect(concernsOf([each, each], now)).to.have.lengthOf(text ? 1 : 0);
    }
  });

  it('the overview names the key whose deliveries fail', async () => {
    const { keyId } = await visitor.newKey('live', 'Airport');
    const failing = { inRow: 1_234, since: new Date(Date.UTC(2026, 1, 3)), at: new Date(), reason: 'refused' };
    await keys.updateOne({ _id: keyId }, { $set: { failing } });
    const html = await overview();
    expect(html).to.include('Deliveries of Airport fail').and.include('1,234 in a row');
    expect(html).to.include(`/dashboard/deliveries?key=${keyId}&amp;outcome=missed`);
  });
});
