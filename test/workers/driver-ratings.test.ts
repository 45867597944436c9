import { expect } from 'chai';
import { newDriverId, newRideId } from '../../shared/base/ids.ts';
import { drivers } from '../../shared/drivers/driver.ts';
import { createDriver } from '../../shared/drivers/manage-drivers.ts';
import { rateRide } from '../../shared/rides/passenger-actions.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { countRatingsOf, driverRatings } from '../../workers/periodic/driver-ratings.ts';
import { takePacedTurn } from '../../workers/periodic/turns.ts';
import { person } from '../support/drivers.ts';
import { type Plan, plansOf } from '../support/plans.ts';
import { completedRide } from '../support/rated-rides.ts';
import { newDriver } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('the rating of a driver', () => {
  const ctx = useTestContext();
  const { updateMany } = rides;
  afterEach(() => {
    rides.updateMany = updateMany;
  });

  async function turn(): Promise<void> {
    await ctx.redis.del(driverRatings.leaseKey);
    await takePacedTurn(ctx, driverRatings, new AbortController().signal);
  }
  const ratingsOf = async (driverId: string) => (await drivers.findOne({ _id: driverId }))?.ratings;
  const owedOf = (driverId: string) => rides.countDocuments({ 'driver.driverId': driverId, ratingOwed: true });
  const newDriverOf = async () => (await createDriver(person)).driverId;

  /** Inserts rated live rides of a driver, the oldest first: as much of them as the count reads. */
  async function rated(driverId: string, stars: number[]): Promise<void> {
    const rows = stars.map((each, index) => ({
      ...{ _id: newRideId(ctx.now()), mode: 'live', status: 'completed', driver: { driverId } },
      ...{ rating: { stars: each, at: new Date(ctx.now() + index) }, ratingOwed: true },
    }));
    await rides.insertMany(rows as unknown as Ride[]);
  }

  it('counts the ratings of live rides that arrive through the map, and none of test rides', async () => {
    const driverId = await newDriverOf();
    const offers = [{ driver: newDriver({ driverId }) }];
    for (const mode of ['live', 'test'] as const) {
      const rideId = await completedRide(ctx, 61, { mode, offers });
      await rateRide(ctx, await storedRide(rideId), { stars: 4 });
    }
    await turn();
    expect(await ratingsOf(driverId)).to.deep.equal({ count: 1, sum: 4, rev: 1 });
    expect(await owedOf(driverId)).to.equal(0);
    await turn();
    expect((await ratingsOf(driverId))?.rev).to.equal(1);
  });

  it('counts the last 200 ratings, and reads no ride for it', async () => {
    const driverId = await newDriverOf();
    await rated(driverId, [...Array<number>(150).fill(1), ...Array<number>(199).fill(5), 3]);
    const plans = await plansOf(turn);
    const { executionStats } = plans.at(-1) as Plan;
    expect(executionStats).to.include({ totalDocsExamined: 0, totalKeysExamined: 200 });
    expect(await ratingsOf(driverId)).to.include({ count: 200, sum: 199 * 5 + 3 });
  });

  it('counts the same after a crash before the rides have lost their marks', async () => {
    const driverId = await newDriverOf();
    await rated(driverId, [5, 3]);
    rides.updateMany = async () => {
      throw new Error('crash');
    };
    await turn();
    expect([(await ratingsOf(driverId))?.sum, await owedOf(driverId)]).to.deep.equal([8, 2]);
    rides.updateMany = updateMany;
    await rated(driverId, [1]);
    await turn();
    expect([(await ratingsOf(driverId))?.sum, await owedOf(driverId)]).to.deep.equal([9, 0]);
  });

  it('a process that another one has overtaken writes nothing, and leaves the marks', async () => {
    const driverId = await newDriverOf();
    await rated(driverId, [5]);
    let paces = 0;
    await countRatingsOf(driverId, async () => {
      paces += 1;
      if (paces !== 2) return;
      await countRatingsOf(driverId, async () => {});
      await rated(driverId, [1]);
    });
    expect(await ratingsOf(driverId)).to.deep.equal({ count: 1, sum: 5, rev: 1 });
    expect(await owedOf(driverId)).to.equal(1);
    await turn();
    expect(await ratingsOf(driverId)).to.deep.equal({ count: 2, sum: 6, rev: 2 });
  });

  it('a rated ride whose driver does not exist loses its mark', async () => {
    const driverId = newDriverId();
    await rated(driverId, [5]);
    await turn();
    expect(await owedOf(driverId)).to.equal(0);
  });
});
