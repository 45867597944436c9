import { expect } from 'chai';
import { overviewPage } from '../../../api/dashboard/overview/overview.tsx';
import { type Account, accountOf, noteConsoleSeen } from '../../../shared/accounts/account.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { createKey, listKeys, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { clientOf } from '../../support/client.ts';
import { signedIn, useVisitor } from '../../support/dashboard.ts';
import { useTestApi } from '../../support/service.ts';

describe('the dashboard: overview', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const key = (mode: Mode = 'test', name = 'Front desk', webhookUrl?: string) =>
    createKey(api.ctx.config, { accountId: visitor.account._id, name, mode, webhookUrl });
  const ridesWith = async (secret: string, count: number) => {
    for (let made = 0; made < count; made += 1) await clientOf(api.url, secret).createRide();
  };
  const overview = async () => (await visitor.get('/dashboard')).html;
  /** The classes of the onboarding steps, in order. */
  const steps = (html: string) => [...html.matchAll(/<li class="(done|next|later)"/g)].map(([, state]) => state);

  describe('onboarding checklist', () => {
    it('the overview shows an empty account the steps test key, webhook URL or console, and first ride', async () => {
      const html = await overview();
      expect(steps(html)).to.deep.equal(['next', 'later', 'later']);
      expect(html).to.include('href="/dashboard/keys/new?mode=test"').and.include('href="/dashboard/console"');
      expect(html).to.include('curl https://rides.example/v1/rides');
    });

    it('the overview ticks each onboarding step when it is done, in any order', async () => {
      const { keyId, key: secret } = await key();
      expect(steps(await overview())).to.deep.equal(['done', 'next', 'later']);
      await ridesWith(secret, 1);
      expect(steps(await overview())).to.deep.equal(['done', 'next', 'done']);
      await visitor.post(`/dashboard/keys/${keyId}/webhook-url`, { webhookUrl: 'https://partner.example/hook' });
      const html = await overview();
      expect(steps(html)).to.deep.equal(['done', 'done', 'done']);
      expect(html).to.match(/<p class="after">.*Make a live key/);
    });

    it('the overview ticks the second onboarding step when the console was opened', async () => {
      await noteConsoleSeen(visitor.account, api.ctx.now());
      expect(steps(await overview())).to.deep.equal(['next', 'done', 'later']);
      const first = (await accountOf(visitor.account.email)) as Account;
      await noteConsoleSeen(first, api.ctx.now() + 60_000);
      expect((await accountOf(visitor.account.email)).consoleSeenAt).to.deep.equal(first.consoleSeenAt);
    });

    it('the overview hides the onboarding steps after the first live ride', async () => {
      await ridesWith((await key('live')).key, 1);
      expect(steps(await overview())).to.deep.equal([]);
    });
  });

  it('the overview shows active keys, rides created, keys with traffic and the busiest key', async () => {
    const [live, test, revoked] = [
      await key('live', 'Airport'),
      await key('test', 'Sandbox'),
      await key('live', 'Gone'),
    ];
    await ridesWith(live.key, 3);
    await ridesWith(test.key, 1);
    await ridesWith(revoked.key, 1);
    await revokeKey(revoked.keyId, { accountId: visitor.account._id });
    const html = await overview();
    const figures = [...html.matchAll(/<dt>([^<]+)<\/dt>((<dd.*?<\/dd>)+)/g)].map(([, label, values = '']) => [
      label,
      values
        .replaceAll(/<[^>]+>/g, ' ')
        .trim()
        .replaceAll(/ +/g, ' '),
    ]);
    expect(figures).to.deep.equal([
      ['Active keys', '2'],
      ['Rides created', '5 4 live, 1 test'],
      ['Keys with traffic', '3'],
      ['Busiest key', 'Airport 3 rides'],
    ]);
  });

  it('the overview shows each active key with its state', async () => {
    await key('live', 'Unused', 'https://partner.example/hook');
    const { key: secret } = await key('test', 'Polling');
    const gone = await key('test', 'Gone');
    await revokeKey(gone.keyId, { accountId: visitor.account._id });
    await ridesWith(secret, 1);
    const rows = (await overview()).split('<tbody>')[1]?.split('<tr>') ?? [];
    expect(rows.find((row) => row.includes('Unused')))
      .to.include('not used yet')
      .and.not.include('no webhook URL');
    expect(rows.find((row) => row.includes('Polling'))).to.include('no webhook URL');
    expect(rows.find((row) => row.includes('Gone'))).to.equal(undefined);
  });

  it('the overview names the key whose deliveries fail', async () => {
    const { keyId } = await key('live', 'Airport');
    const keys = await listKeys({ accountId: visitor.account._id });
    const usage = { activeKeys: 1, ridesCreated: 9, live: 9, test: 0, keysWithTraffic: 1 };
    const facts = { account: visitor.account, keys, usage, rides: new Map(), now: Date.UTC(2026, 1, 4) };
    const failing = { failuresInRow: 1_234, since: new Date(Date.UTC(2026, 1, 3)) };
    const html = overviewPage({
      ...facts,
      health: new Map([[keyId, failing]]),
      publicBaseUrl: 'https://rides.example',
    });
    expect(html).to.include('Deliveries of Airport fail').and.include('1,234 in a row');
    expect(html).to.include(`/dashboard/deliveries?key=${keyId}&amp;outcome=missed`);
  });

  it('the overview shows nothing of another account', async () => {
    const { keyId, name } = await key('live', 'Xanadu');
    const stranger = await signedIn(api);
    for (const path of ['/dashboard', '/dashboard/keys', '/dashboard/account']) {
      expect((await stranger.get(path)).html)
        .not.to.include(keyId)
        .and.not.include(name);
    }
  });
});
