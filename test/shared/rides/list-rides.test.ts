import { expect } from 'chai';
import { newAccountId, newKeyId } from '../../../shared/base/ids.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { listKeyRides, listRides, type RideFilter } from '../../../shared/rides/list-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type Ride, type RideStatus, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { plansOf } from '../../support/plans.ts';
import { newDriver, newRide, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('lists of rides', () => {
  const ctx = useTestContext();

  /** Two keys of a new account, a live and a test one, each with a ride in each status. */
  async function accountWithRides() {
    const accountId = newAccountId();
    const keys: Record<Mode, string> = { live: newKeyId(), test: newKeyId() };
    for (const mode of ['live', 'test'] as const) {
      const key = { keyId: keys[mode], accountId, mode, scenario: 'no_offers' } as const;
      for (const status of rideStatuses) await rideIn(ctx, status, key);
    }
    const stored = await rides.find({ accountId }).sort({ _id: -1 }).toArray();
    return { accountId, keys, stored };
  }

  async function idsOf(filter: RideFilter, accountId: string, limit = 100): Promise<string[]> {
    return (await listRides(filter, limit, { accountId })).rides.map(({ _id }) => _id);
  }

  it("listRides returns the account's rides that match every filter, newest first", async () => {
    const { accountId, keys, stored } = await accountWithRides();
    const [from, to] = [stored[9]?.createdAt, stored[2]?.createdAt];
    const passes = (ride: Ride, { keyId, mode, status, from, to }: RideFilter) =>
      (!keyId || ride.keyId === keyId) &&
      (keyId || !mode || ride.mode === mode) &&
      (!status || [status].flat().includes(ride.status)) &&
      (!from || ride.createdAt >= from) &&
      (!to || ride.createdAt < to);
    for (const whose of [{}, { keyId: keys.live }, { mode: 'test' as const }]) {
      for (const status of [undefined, 'arrived', ['bidding', 'cancelled']] satisfies RideFilter['status'][]) {
        for (const times of [{}, { from }, { to }, { from, to }]) {
          const filter: RideFilter = { ...whose, status, ...times };
          const expected = stored.filter((ride) => passes(ride, filter)).map(({ _id }) => _id);
          expect(await idsOf(filter, accountId), JSON.stringify(filter)).to.deep.equal(expected);
        }
      }
    }
  });

  it('listRides counts the offers that are not withdrawn, and names the undelivered events of each ride', async () => {
    const accountId = newAccountId();
    const { rideId } = await rideIn(ctx, 'completed', { accountId, offers: [{}, {}, {}] });
    const at = new Date();
    const delivered = { outcome: 'delivered', durationMs: 1, at } as const;
    await rides.updateOne(
      { _id: rideId },
      {
        $set: {
          'offers.2.withdrawnAt': at,
          'events.0.delivery': delivered,
          'events.1.delivery': { ...delivered, outcome: 'timeout' },
          'events.2.delivery': { ...delivered, outcome: 'no_url' },
          'events.3.delivery': { ...delivered, outcome: 'blocked' },
          'events.4.delivery': { ...delivered, outcome: 'failed' },
        },
      },
    );
    const { rides: found } = await listRides({}, 10, { accountId });
    const [{ liveOffers, missed } = {} as never] = found;
    expect({ liveOffers, missed }).to.deep.equal({ liveOffers: 2, missed: [2, 4, 5] });
  });

  it('a page reads about as many index entries as it has rides, for any filter and number of rides', async () => {
    const accountId = newAccountId();
    const keyId = newKeyId();
    const template = await storedRide(await newRide(ctx, { accountId, keyId }));
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      ...template,
      _id: `${template._id.slice(0, -4)}${String(index).padStart(4, '0')}`,
      trackToken: `${accountId}${index}`,
      driver: newDriver(),
      mode: index % 2 ? ('live' as const) : ('test' as const),
      status: rideStatuses[index % 3] as RideStatus,
      ...(index % 5 === 0 && { reference: 'Room 12' }),
    }));
    await rides.insertMany(many);
    const filters: RideFilter[] = [{}, { keyId }, { mode: 'test' }, { status: 'cancelled' }];
    filters.push({ status: ['bidding', 'arrived'] });
    filters.push({ status: 'arrived', mode: 'live' }, { keyId, status: 'arrived' }, { after: many[1_000]?._id });
    const ofKey: Parameters<typeof listKeyRides>[1][] = [
      {},
      { status: 'arrived' },
      { from: 0, after: many[1_000]?._id },
    ];
    ofKey.push({ reference: 'Room 12' }, { reference: 'Room 12', status: 'cancelled' });
    const lists = [
      ...filters.map((filter) => [filter, () => listRides(filter, 20, { accountId })] as const),
      ...ofKey.map((filter) => [filter, () => listKeyRides(keyId, filter, { limit: 20, projection: {} })] as const),
    ];
    for (const [filter, list] of lists) {
      const [plan, ...others] = await plansOf(list);
      expect(others).to.deep.equal([]);
      expect(plan?.executionStats.totalKeysExamined, JSON.stringify(filter)).to.be.at.most(60);
      expect(plan?.stages).not.to.match(/"SORT"|"COLLSCAN"/);
    }
  });
});
