import { expect } from 'chai';
import type { Point } from '../../shared/base/great-circle.ts';
import { newDriverId } from '../../shared/base/ids.ts';
import { goOffline, goOnline, markSilentUnavailable, positions, writeReports } from '../../shared/drivers/positions.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { declineRequest } from '../../shared/rides/driver/driver-actions.ts';
import { settleDriver } from '../../shared/rides/driver/settle-driver.ts';
import { pointAt } from '../../shared/rides/position.ts';
import { rides } from '../../shared/rides/ride.ts';
import { serveFreeDrivers } from '../../workers/periodic/free-drivers.ts';
import { dispatchedRide, runDispatch, somewhere } from '../support/drivers.ts';
import { newDriver, newRide, offerOn, rideIn } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';

describe('drivers who become available between two dispatch rounds', () => {
  const ctx = useTestContext();

  const now = () => new Date(ctx.now());
  const online = (driverId: string, place: Point, car: { seats?: number; carType?: 'regular' | 'family' } = {}) =>
    goOnline({ driverId, carType: 'regular', seats: 4, ...car }, place, now());
  /** A report of a driver whose last report is long enough ago to be written. */
  async function report(driverId: string, place: Point): Promise<void> {
    await positions.updateOne({ _id: driverId }, { $set: { reportedAt: new Date(0) } });
    await writeReports(new Map([[driverId, place]]), now());
  }
  /** Serves all drivers who are marked, also those of other tests. */
  async function serve(): Promise<void> {
    while ((await serveFreeDrivers(ctx)) > 0);
  }
  const askedFor = async (rideId: string) => ((await storedRide(rideId)).asked ?? []).map(({ driverId }) => driverId);
  const settled = async (driverId: string) => {
    await settleDriver(ctx, driverId);
  };

  /** Each way in which a driver becomes available for a ride that is open around `place`. */
  const ways: Record<string, (driverId: string, place: Point) => Promise<() => Promise<unknown>>> = {
    'goes online': async (driverId, place) => () => online(driverId, place),
    'goes online again': async (driverId, place) => {
      await online(driverId, place);
      await goOffline(driverId);
      return () => online(driverId, place);
    },
    'drives into the radius': async (driverId, place) => {
      await online(driverId, pointAt(place, 5, 40));
      return () => report(driverId, pointAt(place, 2, 40));
    },
    'reports after a silent minute': async (driverId, place) => {
      await online(driverId, place);
      await positions.updateOne({ _id: driverId }, { $set: { seenAt: new Date(ctx.now() - 61_000) } });
      await markSilentUnavailable(now());
      return () => report(driverId, place);
    },
    'reports after a silent minute, before a sweep': async (driverId, place) => {
      await online(driverId, place);
      await positions.updateOne({ _id: driverId }, { $set: { seenAt: new Date(ctx.now() - 61_000) } });
      return () => report(driverId, place);
    },
    'is freed because the partner cancels': async (driverId, place) => {
      await online(driverId, place);
      const driver = newDriver({ driverId });
      const { rideId } = await rideIn(ctx, 'driver_arriving', { pickup: place, offers: [{ driver }] });
      await settled(driverId);
      return async () => {
        await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
        await runDispatch(ctx, rideId, 'driver');
      };
    },
    'has room because one of five requests ends': async (driverId, place) => {
      const others = await Promise.all(Array.from({ length: 5 }, () => newRide(ctx, { pickup: place })));
      await online(driverId, place);
      for (const other of others) await runDispatch(ctx, other);
      return async () => {
        await applyAction(ctx, others[0] as string, { action: 'cancel', by: 'partner' }, 'anyone');
        await runDispatch(ctx, others[0] as string, 'driver');
      };
    },
    'has room because the driver declines one of five requests': async (driverId, place) => {
      const others = await Promise.all(Array.from({ length: 5 }, () => newRide(ctx, { pickup: place })));
      await online(driverId, place);
      for (const other of others) await runDispatch(ctx, other);
      return () => declineRequest(ctx, others[0] as string, { driverId });
    },
  };

  for (const [way, prepare] of Object.entries(ways)) {
    it(`a driver who ${way} has the open ride without another round`, async () => {
      const place = somewhere();
      const driverId = newDriverId();
      const becomeFree = await prepare(driverId, place);
      await serve();
      const rideId = await dispatchedRide(ctx, place);
      await serve();
      expect(await askedFor(rideId)).not.to.include(driverId);
      const { rounds, timers } = await storedRide(rideId);
      await becomeFree();
      await serve();
      expect(await askedFor(rideId)).to.deep.equal([driverId]);
      // The next round keeps its number and its time.
      expect(await storedRide(rideId)).to.deep.include({ rounds, timers });
      expect(await positions.findOne({ _id: driverId })).not.to.have.property('freeSince');
    });
  }

  /** Drivers whom a ride that was opened within 3 km must not reach. */
  const limits: Record<string, (place: Point) => Promise<unknown>> = {
    'outside the present radius': (place) => online(newDriverId(), pointAt(place, 3.1, 40)),
    'with too few seats': (place) => online(newDriverId(), place, { seats: 1 }),
    'who is offline again': async (place) => {
      const driverId = newDriverId();
      await online(driverId, place);
      await goOffline(driverId);
    },
    'who declined the ride': async (place) => {
      const driverId = newDriverId();
      await online(driverId, place);
      await serve();
      const rideId = (await rides.findOne({ 'asked.driverId': driverId }))?._id ?? '';
      await declineRequest(ctx, rideId, { driverId });
    },
  };
  for (const [which, become] of Object.entries(limits)) {
    it(`a ride is not opened to a driver ${which}`, async () => {
      const place = somewhere();
      const rideId = await dispatchedRide(ctx, place, { passengerCount: 2 });
      await become(place);
      const before = await storedRide(rideId);
      await serve();
      expect(await storedRide(rideId)).to.deep.equal(before);
    });
  }

  it('a ride with five live offers is opened to no free driver', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    for (let offers = 0; offers < 5; offers++) await offerOn(ctx, rideId);
    await online(newDriverId(), place);
    await serve();
    expect(await askedFor(rideId)).to.deep.equal([]);
  });

  it('of 30 drivers who become free at once, the 20 nearest get the ride, with one change of it within a second', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    const drivers = Array.from({ length: 30 }, (_, index) => ({ driverId: newDriverId(), km: 0.05 * (index + 1) }));
    await Promise.all(drivers.map(({ driverId, km }) => online(driverId, pointAt(place, km, 40))));
    const { rev } = await storedRide(rideId);
    await serve();
    await online(newDriverId(), place);
    await serveFreeDrivers(ctx);
    expect((await storedRide(rideId)).rev).to.equal(rev + 1);
    expect(await askedFor(rideId)).to.have.members(drivers.slice(0, 20).map(({ driverId }) => driverId));
  });

  it('a report from the same cell leaves no mark', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    await online(driverId, place);
    await serve();
    await report(driverId, place);
    expect(await positions.findOne({ _id: driverId })).not.to.have.property('freeSince');
  });

  it('a driver at the edge of a radius has the ride once inside, also within the same cell', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    await online(driverId, pointAt(place, 3.05, 0));
    const rideId = await dispatchedRide(ctx, place);
    await serve();
    expect(await positions.findOne({ _id: driverId })).to.have.property('atEdge', true);
    await report(driverId, pointAt(place, 2.99, 0));
    await serve();
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('a driver on the other side of 180 degrees has the ride', async () => {
    const place = { lat: -16.8, lng: 179.995 };
    const driverId = newDriverId();
    const rideId = await dispatchedRide(ctx, place);
    await online(driverId, { lat: -16.8, lng: -179.995 });
    await serve();
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('two rides whose first rounds run at the same time are both opened to the one free driver', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    await online(driverId, place);
    await serve();
    const booked = await Promise.all([newRide(ctx, { pickup: place }), newRide(ctx, { pickup: place })]);
    await Promise.all(booked.map((rideId) => runDispatch(ctx, rideId)));
    await serve();
    for (const rideId of booked) expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('a held ride of a restored backup is opened to no driver, and leaves no mark', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    const rideId = await dispatchedRide(ctx, place);
    await rides.updateOne({ _id: rideId }, { $set: { heldAt: now() } });
    await online(driverId, place);
    await serveFreeDrivers(ctx);
    const position = await positions.findOne({ _id: driverId });
    await rides.updateOne({ _id: rideId }, { $unset: { heldAt: '' } });
    expect(position).to.deep.include({ requests: [] });
    expect(position).not.to.have.property('freeSince');
  });

  it('a round that runs at the same time opens the ride to each driver once', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    const drivers = Array.from({ length: 10 }, () => newDriverId());
    await Promise.all(drivers.map((driverId) => online(driverId, place)));
    await makeDue(rideId, 'dispatch');
    await Promise.all([serveFreeDrivers(ctx), serveFreeDrivers(ctx), runDispatch(ctx, rideId)]);
    expect(new Set(await askedFor(rideId)).size).to.equal((await askedFor(rideId)).length);
    await serve();
    expect(await askedFor(rideId)).to.have.members(drivers);
  });
});
