import { expect } from 'chai';
import type { Point } from '../../shared/base/great-circle.ts';
import { newDriverId } from '../../shared/base/ids.ts';
import { goOffline, goOnline, markSilentUnavailable } from '../../shared/drivers/change-availability.ts';
import { positions } from '../../shared/drivers/positions.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { fireTimer } from '../../shared/rides/fire-timer.ts';
import { pointAt } from '../../shared/rides/position.ts';
import { rides } from '../../shared/rides/ride.ts';
import { dispatchedRide, runDispatch, somewhere } from '../support/drivers.ts';
import { scaled } from '../support/machine-speed.ts';
import { newDriver, newRide, offerOn } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';

describe('dispatch rounds', () => {
  const ctx = useTestContext();

  type Car = { carType?: 'regular' | 'comfort' | 'family'; seats?: number };
  /** Puts a driver online `km` away from a place. Resolves with the driver's id. */
  async function driverAt(place: Point, km = 0, { carType = 'regular', seats = 4 }: Car = {}): Promise<string> {
    const driverId = newDriverId();
    await goOnline({ driverId, carType, seats }, km ? pointAt(place, km, 40) : place, new Date(ctx.now()));
    return driverId;
  }
  const askedFor = async (rideId: string) => ((await storedRide(rideId)).asked ?? []).map(({ driverId }) => driverId);
  const nextRound = async (rideId: string) => {
    await makeDue(rideId, 'dispatch');
    return runDispatch(ctx, rideId);
  };

  it('dispatch rounds ask the available drivers within 3 km, then 6, then 12, nearest first', async () => {
    const place = somewhere();
    const [far, near, middle, nearest] = [
      await driverAt(place, 11),
      await driverAt(place, 2.5),
      await driverAt(place, 5),
      await driverAt(place, 0.2),
    ];
    await driverAt(place, 12.2);
    const rideId = await dispatchedRide(ctx, place);
    expect(await askedFor(rideId)).to.deep.equal([nearest, near]);
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal([nearest, near, middle]);
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal([nearest, near, middle, far]);
    expect((await storedRide(rideId)).asked?.map(({ pickupKm }) => pickupKm)).to.deep.equal([0.2, 2.5, 5, 11]);
  });

  it('dispatch rounds run 0, 20 and 60 s after the creation, then every 30 s until the bidding time ends', async () => {
    const rideId = await newRide(ctx, { pickup: somewhere() });
    const { createdAt, biddingEndsAt, timers } = await storedRide(rideId);
    const dueAfter = async () => {
      const timer = (await storedRide(rideId)).timers.find(({ name }) => name === 'dispatch');
      return timer && timer.dueAt.getTime() - createdAt.getTime();
    };
    expect(timers.map(({ name }) => name)).to.have.members(['expire', 'dispatch']);
    expect(await dueAfter()).to.equal(0);
    await runDispatch(ctx, rideId);
    expect(await dueAfter()).to.equal(20_000);
    await nextRound(rideId);
    expect(await dueAfter()).to.equal(60_000);
    const startedAt = ctx.now();
    const result = await nextRound(rideId);
    expect(await dueAfter()).to.be.within(
      startedAt - createdAt.getTime() + 29_900,
      ctx.now() - createdAt.getTime() + 30_100,
    );
    expect(result)
      .to.have.property('againInMs')
      .that.is.within(30_000 - scaled(1_000), 30_100);
    // The bidding time now ends before the next round would run, so no further round is planned.
    await rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: new Date(ctx.now() + 20_000) } });
    expect(await nextRound(rideId)).to.deep.include({ result: 'done' });
    expect(await dueAfter()).to.equal(undefined);
    expect(await storedRide(rideId)).to.include({ rounds: 4, status: 'bidding' });
    expect(biddingEndsAt.getTime() - createdAt.getTime()).to.equal(600_000);
  });

  it('an intercity ride uses the largest radius from the first round', async () => {
    const place = somewhere();
    const far = await driverAt(place, 11);
    expect(await askedFor(await dispatchedRide(ctx, place, { rideType: 'intercity' }))).to.deep.equal([far]);
  });

  it('a round asks the nearest 20 drivers, and no driver is asked twice', async () => {
    const place = somewhere();
    const drivers: string[] = [];
    for (let index = 0; index < 25; index++) drivers.push(await driverAt(place, 0.05 + index * 0.1));
    const rideId = await dispatchedRide(ctx, place);
    expect(await askedFor(rideId)).to.deep.equal(drivers.slice(0, 20));
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal(drivers);
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal(drivers);
  });

  it('a comfort or family ride is offered to cars of its type, a regular ride to all cars', async () => {
    const place = somewhere();
    const cars = {
      regular: await driverAt(place, 0.1),
      comfort: await driverAt(place, 0.2, { carType: 'comfort' }),
      family: await driverAt(place, 0.3, { carType: 'family' }),
    };
    expect(await askedFor(await dispatchedRide(ctx, place, { carType: 'comfort' }))).to.deep.equal([cars.comfort]);
    expect(await askedFor(await dispatchedRide(ctx, place, { carType: 'family' }))).to.deep.equal([cars.family]);
    expect(await askedFor(await dispatchedRide(ctx, place))).to.deep.equal(Object.values(cars));
  });

  it('a ride is offered only to cars with enough seats', async () => {
    const place = somewhere();
    await driverAt(place, 0.1, { seats: 4 });
    const large = await driverAt(place, 0.2, { seats: 6 });
    expect(await askedFor(await dispatchedRide(ctx, place, { passengerCount: 6 }))).to.deep.equal([large]);
  });

  it('a round asks no driver who is offline, silent for a minute, or on a ride', async () => {
    const place = somewhere();
    const [offline, silent, busy, free] = [
      await driverAt(place, 0.1),
      await driverAt(place, 0.1),
      await driverAt(place, 0.1),
      await driverAt(place, 0.5),
    ];
    await goOffline(offline);
    const unheard = await driverAt(place, 0.1);
    // A position from before MongoDB's clock was set back by an hour.
    await positions.updateOne({ _id: unheard }, { $set: { seenAt: new Date(ctx.now() + 3_600_000) } });
    await positions.updateOne({ _id: silent }, { $set: { seenAt: new Date(ctx.now() - 61_000) } });
    const taken = await dispatchedRide(ctx, somewhere());
    const { offerId } = await offerOn(ctx, taken, { driver: newDriver({ driverId: busy }) });
    // The position document of the driver does not have this ride yet.
    await applyAction(ctx, taken, { action: 'accept', offerId }, 'anyone');
    expect(await askedFor(await dispatchedRide(ctx, place))).to.deep.equal([free]);
    await markSilentUnavailable(new Date(ctx.now()));
    const kept = await positions.distinct('_id', { _id: { $in: [silent, unheard, free] }, available: true });
    expect(kept).to.deep.equal([free]);
    await runDispatch(ctx, taken, 'driver');
    expect(await positions.findOne({ _id: busy })).to.include({ available: false, rideId: taken });
    expect(await askedFor(await dispatchedRide(ctx, place))).to.deep.equal([free]);
  });

  it('a driver gets requests again after the ride has ended', async () => {
    const place = somewhere();
    const driverId = await driverAt(place);
    const taken = await dispatchedRide(ctx, place);
    const { offerId } = await offerOn(ctx, taken, { driver: newDriver({ driverId }) });
    await applyAction(ctx, taken, { action: 'accept', offerId }, 'anyone');
    await runDispatch(ctx, taken, 'driver');
    await applyAction(ctx, taken, { action: 'cancel', by: 'partner' }, 'anyone');
    await runDispatch(ctx, taken, 'driver');
    expect((await storedRide(taken)).timers).to.deep.equal([]);
    expect(await askedFor(await dispatchedRide(ctx, place))).to.deep.equal([driverId]);
  });

  it('a driver has at most five open requests, even if many rides are dispatched at the same time', async () => {
    const place = somewhere();
    const driverId = await driverAt(place);
    const rideIds = await Promise.all(Array.from({ length: 12 }, () => newRide(ctx, { pickup: place })));
    await Promise.all(rideIds.map((rideId) => runDispatch(ctx, rideId)));
    for (const rideId of rideIds) await nextRound(rideId);
    const asked = await Promise.all(rideIds.map(askedFor));
    expect(asked.filter((drivers) => drivers.includes(driverId))).to.have.length(5);
  });

  it("a round that is repeated after an interruption adds the ride only once to a driver's requests", async () => {
    const place = somewhere();
    const driverId = await driverAt(place);
    const rideId = await newRide(ctx, { pickup: place });
    await positions.updateOne({ _id: driverId }, { $set: { requests: [rideId] } });
    await runDispatch(ctx, rideId);
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
    expect((await positions.findOne({ _id: driverId }))?.requests).to.deep.equal([rideId]);
  });

  it('a driver with five open requests gets another one after one of them has ended', async () => {
    const place = somewhere();
    const driverId = await driverAt(place);
    const [first = ''] = await Promise.all([1, 2, 3, 4, 5].map(() => dispatchedRide(ctx, place)));
    // Several rides are dispatched, because concurrent rounds may miss the driver.
    for (let round = 0; round < 5; round++) await dispatchedRide(ctx, place);
    expect((await positions.findOne({ _id: driverId }))?.requests).to.have.length(5);
    const rideId = await dispatchedRide(ctx, place);
    expect(await askedFor(rideId)).to.deep.equal([]);
    const [ended = first] = (await positions.findOne({ _id: driverId }))?.requests ?? [];
    await applyAction(ctx, ended, { action: 'cancel', by: 'partner' }, 'anyone');
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('a ride with five live offers is opened to no more drivers until one offer is withdrawn', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    const offers = [];
    for (let index = 0; index < 5; index++) offers.push(await offerOn(ctx, rideId));
    const driverId = await driverAt(place);
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal([]);
    await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: offers[0]?.offerId ?? '' }, 'anyone');
    await nextRound(rideId);
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('a test ride is never opened to a driver', async () => {
    const place = somewhere();
    await driverAt(place);
    const rideId = await newRide(ctx, { mode: 'test', pickup: place });
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).not.to.include('dispatch');
    expect(await runDispatch(ctx, rideId)).to.deep.equal({ result: 'stale' });
    expect(await askedFor(rideId)).to.deep.equal([]);
  });

  it('no driver is asked for a ride that is cancelled or whose bidding time is over', async () => {
    const place = somewhere();
    await driverAt(place);
    const cancelled = await newRide(ctx, { pickup: place });
    await applyAction(ctx, cancelled, { action: 'cancel', by: 'partner' }, 'anyone');
    expect(await runDispatch(ctx, cancelled)).to.deep.equal({ result: 'stale' });
    const over = await newRide(ctx, { pickup: place });
    await rides.updateOne({ _id: over }, { $set: { biddingEndsAt: new Date(ctx.now() - 1) } });
    await runDispatch(ctx, over);
    expect([...(await askedFor(cancelled)), ...(await askedFor(over))]).to.deep.equal([]);
  });

  it('a round runs only once if two workers have its job', async () => {
    const place = somewhere();
    const drivers: string[] = [];
    for (let index = 0; index < 25; index++) drivers.push(await driverAt(place, 0.05 + index * 0.1));
    const rideId = await newRide(ctx, { pickup: place });
    await Promise.all([runDispatch(ctx, rideId), runDispatch(ctx, rideId)]);
    const asked = await askedFor(rideId);
    expect(asked).to.have.length.at.most(20);
    expect(new Set(asked)).to.have.property('size', asked.length);
    expect(await storedRide(rideId)).to.include({ rounds: 1 });
    // The other run may have reserved some or all of the drivers; the next rounds ask them.
    for (let round = 0; round < 3; round++) await nextRound(rideId);
    expect(await askedFor(rideId)).to.have.members(drivers);
  });

  it('a round does not run before it is due, and runs if it is late', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    await driverAt(place);
    const early = await runDispatch(ctx, rideId);
    expect(early)
      .to.have.property('againInMs')
      .that.is.within(20_000 - scaled(5_000), 20_000);
    expect(await askedFor(rideId)).to.deep.equal([]);
    await makeDue(rideId, 'dispatch', new Date(ctx.now() - 300_000));
    await runDispatch(ctx, rideId);
    expect(await askedFor(rideId)).to.have.length(1);
  });

  it('a round that is counted has asked the nearby drivers, even if its job runs just as it becomes due', async () => {
    const counted: number[] = [];
    for (let remainingMs = 0; remainingMs < 40; remainingMs++) {
      const place = somewhere();
      await driverAt(place);
      const rideId = await newRide(ctx, { pickup: place });
      await makeDue(rideId, 'dispatch', new Date(ctx.now() + (remainingMs % 8)));
      await runDispatch(ctx, rideId);
      const { rounds = 0, asked = [] } = await storedRide(rideId);
      if (rounds > 0) counted.push(asked.length);
    }
    expect(new Set(counted)).to.deep.equal(new Set([1]));
  });

  it('a job does not fire a timer that was set after the job read the ride', async () => {
    const rideId = await newRide(ctx, { pickup: somewhere() });
    const { offerId } = await offerOn(ctx, rideId);
    await applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    expect(await fireTimer(ctx, rideId, 'driver', () => null, { dueAt: null })).to.deep.equal({ result: 'stale' });
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).to.deep.equal(['stall', 'driver']);
  });
});
