import { expect } from 'chai';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import { FareProgressModel, fareDays } from '../../../shared/fares/fare-days.ts';
import { faresPerKm, type Quartiles } from '../../../shared/fares/fare-hint.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { fareCounts } from '../../../workers/periodic/fares.ts';
import { takePacedTurn } from '../../../workers/periodic/turns.ts';
import { somewhere } from '../../support/drivers.ts';
import { newDriver } from '../../support/rides.ts';
import { at, useUsageContext } from '../../support/usage.ts';

describe('fare counts', () => {
  const ctx = useUsageContext();
  beforeEach(async () => {
    await ctx.redis.del(fareCounts.leaseKey);
    await FareProgressModel.deleteMany({});
    await fareDays.deleteMany({});
    await rides.deleteMany({});
  });

  const now = '2026-11-06 01:00';
  async function count(text = now, signal = new AbortController().signal): Promise<void> {
    await ctx.redis.del(fareCounts.leaseKey);
    await takePacedTurn({ ...ctx, now: () => at(text).getTime() }, fareCounts, signal);
  }
  const hint = (pickup: Ride['pickup'], carType: Ride['carType'] = 'regular', text = now): Promise<Quartiles | null> =>
    faresPerKm(pickup, carType, at(text).getTime());

  /** Inserts trips from a place at these prices per km, spread evenly over `accounts` accounts. */
  async function trips(pickup: Ride['pickup'], perKm: number[], accounts: number, changes: Partial<Ride> = {}) {
    const destination = pointAt(pickup, 8, 90);
    const km = greatCircleKm(pickup, destination);
    const made = perKm.map((price, index) => {
      const statusAt = changes.statusAt ?? at('2026-11-05 10:00');
      return {
        _id: newRideId(statusAt.getTime()),
        trackToken: newTrackToken(),
        driver: newDriver(),
        ...{ accountId: `acct_${index % accounts}`, mode: 'live', carType: 'regular', rideType: 'standard' },
        ...{ pickup, destination, status: 'completed', agreedPrice: price * km, statusAt, unsettled: 0 },
        ...changes,
      } as Ride;
    });
    await rides.insertMany(made, { ignoreUndefined: true });
  }
  const prices = (length: number) => Array.from({ length }, (_, index) => 1 + index / 10);
  /** Prices are counted in steps of 5 %. */
  function expectQuartiles(found: Quartiles | null, wanted: Quartiles): void {
    for (const name of ['lower', 'median', 'upper'] as const) {
      expect(found?.[name], name).to.be.closeTo(wanted[name], wanted[name] / 40);
    }
  }

  it('20 trips of 10 accounts over all days give a hint with median and quartiles per km, to 5 %', async () => {
    const place = somewhere();
    await trips(place, prices(20).slice(0, 10), 10, { statusAt: at('2026-11-04 23:59') });
    await trips(place, prices(20).slice(10), 10);
    await count();
    const found = await hint(place);
    expectQuartiles(found, { lower: 1.4, median: 1.9, upper: 2.4 });
    for (const price of Object.values(found ?? {})) {
      const steps = Math.log(price) / Math.log(1.05);
      expect(steps).to.be.closeTo(Math.round(steps), 1e-9);
    }
  });

  it('there is no hint for 19 trips, or for any number of trips of 9 accounts', async () => {
    const [few, same] = [somewhere(), somewhere()];
    await trips(few, prices(19), 19);
    for (const statusAt of ['2026-11-03 10:00', '2026-11-04 10:00', '2026-11-05 10:00'].map(at)) {
      await trips(same, prices(40), 9, { statusAt });
    }
    await count();
    expect([await hint(few), await hint(same)]).to.deep.equal([null, null]);
  });

  it('there is no hint while one account has more than a third of the trips of all days', async () => {
    const [third, more] = [somewhere(), somewhere()];
    for (const [place, ofOne] of [
      [third, 10],
      [more, 11],
    ] as const) {
      await trips(place, prices(20), 20, { statusAt: at('2026-11-04 10:00') });
      await trips(place, prices(ofOne).slice(1), 1);
    }
    await count();
    // Account 0 has 10 of 29 trips at `third` and 11 of 30 at `more`, both more than a third. The next trip, of another
    // account, makes it 10 of 30 at `third`, which is exactly a third.
    await trips(third, [1.5], 1, { accountId: 'acct_x', statusAt: at('2026-11-05 11:00') });
    await FareProgressModel.deleteMany({});
    await count();
    expect(await hint(third)).not.to.equal(null);
    expect(await hint(more)).to.equal(null);
  });

  it('a ride counts on the day of its end: a ride for later is completed long after its creation', async () => {
    const place = somewhere();
    const createdAt = at('2026-10-20 08:00');
    await trips(place, prices(19), 10);
    await trips(place, [2], 1, { _id: newRideId(createdAt.getTime()), status: 'bidding', statusAt: createdAt });
    await count('2026-11-05 01:00');
    expect(await hint(place)).to.equal(null);
    await rides.updateOne({ status: 'bidding' }, { $set: { status: 'completed', statusAt: at('2026-11-05 12:00') } });
    await count();
    expect(await hint(place)).not.to.equal(null);
  });

  it('a ride that is completed, or has its last event sent, after its day was counted is counted later', async () => {
    const [ended, sent] = [somewhere(), somewhere()];
    await trips(ended, prices(20), 10, { status: 'in_progress', statusAt: at('2026-11-05 23:50') });
    await trips(sent, prices(20), 10, { unsettled: 1, statusAt: at('2026-11-05 23:50') });
    await count();
    expect([await hint(ended), await hint(sent)]).to.deep.equal([null, null]);
    await rides.updateMany({ unsettled: 1 }, { $set: { unsettled: 0 } });
    await rides.updateMany(
      { status: 'in_progress' },
      { $set: { status: 'completed', statusAt: at('2026-11-06 00:20') } },
    );
    await count('2026-11-07 01:00');
    expect(await hint(ended)).not.to.equal(null);
    expect(await hint(sent)).not.to.equal(null);
  });

  it('only completed live standard rides of the same car type near the pickup count', async () => {
    const place = somewhere();
    await trips(place, prices(20), 10);
    await trips(place, Array(30).fill(50), 10, { mode: 'test' });
    await trips(place, Array(30).fill(50), 10, { carType: 'family' });
    await trips(place, Array(30).fill(50), 10, { rideType: 'intercity' });
    await trips(pointAt(place, 30, 0), Array(30).fill(50), 10);
    await trips(place, Array(30).fill(50), 10, { destination: pointAt(place, 0.1, 0) });
    await trips(place, Array(30).fill(50), 10, { agreedPrice: undefined, status: 'cancelled' });
    await trips(place, Array(30).fill(50), 10, { erasedAt: at('2026-11-05 12:00'), trackToken: undefined });
    await trips(place, Array(30).fill(50), 10, { statusAt: at('2026-11-06 00:10') });
    for (const status of ['driver_arriving', 'in_progress', 'cancelled'] as const) {
      await trips(place, Array(30).fill(50), 10, { status });
    }
    await count();
    expectQuartiles(await hint(place), { lower: 1.4, median: 1.9, upper: 2.4 });
    expect((await hint(place, 'family'))?.median).to.be.closeTo(50, 1.25);
    expect(await hint(place, 'comfort')).to.equal(null);
    expect(await hint(somewhere())).to.equal(null);
  });

  it('a day is counted an hour after its end, and counting it again changes nothing', async () => {
    const place = somewhere();
    await trips(place, prices(20), 10);
    await count('2026-11-06 00:59:59.999');
    expect(await hint(place)).to.equal(null);
    await count();
    const first = await fareDays.find().toArray();
    // Simulates a process that died before it recorded that the day was counted.
    await FareProgressModel.deleteMany({});
    await count();
    expect(await fareDays.find().toArray()).to.deep.equal(first);
    await trips(place, prices(20), 10);
    await count('2026-11-06 23:00');
    expect(await fareDays.find().toArray()).to.deep.equal(first);
  });

  it('a hint ignores counts that are over 28 days old, and the next turn deletes them', async () => {
    const place = somewhere();
    await trips(place, prices(20), 10);
    await count();
    expect(await hint(place)).not.to.equal(null);
    await count('2026-12-03 01:00');
    expect(await hint(place, 'regular', '2026-12-03 01:00')).not.to.equal(null);
    await count('2026-12-04 01:00');
    expect(await hint(place, 'regular', '2026-12-04 01:00')).to.equal(null);
    expect(await fareDays.countDocuments()).to.equal(0);
  });

  it('the counts contain no account, ride or driver, and no link between prices and accounts', async () => {
    const [here, there] = [somewhere(), somewhere()];
    for (const place of [here, there]) await trips(place, prices(40), 40);
    await count();
    const days = await fareDays.find().toArray();
    expect(days).to.have.length(2);
    for (const day of days) {
      expect(day).to.have.all.keys('_id', 'day', 'trips', 'accounts', 'prices');
      expect(day.trips).to.equal(40);
      expect(JSON.stringify(day)).not.to.match(/acct_|ride_|driver/);
      for (const each of day.accounts) expect(each).to.have.all.keys('code', 'trips');
    }
    // An account has a different code at each place.
    expect(new Set(days.flatMap(({ accounts }) => accounts.map(({ code }) => code)))).to.have.property('size', 80);
  });
});
