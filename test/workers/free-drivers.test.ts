import { expect } from 'chai';
import type { Point } from '../../shared/base/great-circle.ts';
import { newDriverId, newRideId, newTrackToken } from '../../shared/base/ids.ts';
import { connectRedis } from '../../shared/base/redis/redis.ts';
import { cellsAt, wideCellsAround, wideCellsAt } from '../../shared/drivers/cells.ts';
import { goOffline, goOnline, markSilentUnavailable } from '../../shared/drivers/change-availability.ts';
import { writeReports } from '../../shared/drivers/position-reports.ts';
import { type DriverPosition, positions } from '../../shared/drivers/positions.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { declineRequest } from '../../shared/rides/driver/driver-actions.ts';
import { settleDriver } from '../../shared/rides/driver/settle-driver.ts';
import { findOpenRides } from '../../shared/rides/open-rides.ts';
import { pointAt } from '../../shared/rides/position.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Offer } from '../../shared/rides/ride-types.ts';
import { passOver } from '../../workers/dispatch.ts';
import { serveFreeDrivers, startFreeDrivers } from '../../workers/periodic/free-drivers.ts';
import { startLoop } from '../../workers/periodic/turns.ts';
import { commandsOf } from '../support/commands.ts';
import { dispatchedRide, runDispatch, somewhere } from '../support/drivers.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { withLogLines } from '../support/log-lines.ts';
import { plansOf } from '../support/plans.ts';
import { newDriver, newRide, offerOn, rideIn } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';
import { startSwitch } from '../support/switch.ts';
import { until } from '../support/until.ts';

const leaseKey = '{rides:free-drivers}:lease';

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
  /** Serves all drivers who are marked, also those of other tests, in turns that are a second apart. */
  async function serve(): Promise<void> {
    for (let atMs = ctx.now(); (await serveFreeDrivers(ctx, new Date(atMs))) > 0; atMs += 1_000);
  }
  const positionOf = async (driverId: string) => (await positions.findOne({ _id: driverId })) as DriverPosition;
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

  it('of 30 drivers who become free at once, the 20 nearest get the ride, with one change of it', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    const drivers = Array.from({ length: 30 }, (_, index) => ({ driverId: newDriverId(), km: 0.05 * (index + 1) }));
    await Promise.all(drivers.map(({ driverId, km }) => online(driverId, pointAt(place, km, 40))));
    const { rev } = await storedRide(rideId);
    await serveFreeDrivers(ctx);
    expect((await storedRide(rideId)).rev).to.equal(rev + 1);
    expect(await askedFor(rideId)).to.have.members(drivers.slice(0, 20).map(({ driverId }) => driverId));
  });

  it('a driver whom a round passed over gets the ride by coming from outside its radius, not by moving inside', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    for (let nearer = 1; nearer <= 20; nearer++) await online(newDriverId(), pointAt(place, 0.05 * nearer, 40));
    await online(driverId, pointAt(place, 2, 40));
    await serve();
    const rideId = await dispatchedRide(ctx, place);
    for (const [km, isAsked] of [
      [1.2, false],
      [3.5, false],
      [2.5, true],
    ] as const) {
      await report(driverId, pointAt(place, km, 40));
      await serve();
      expect((await askedFor(rideId)).includes(driverId), `at ${km} km`).to.equal(isAsked);
    }
  });

  it('a report from the same cell leaves no mark', async () => {
    const place = somewhere();
    const driverId = newDriverId();
    await online(driverId, place);
    await serve();
    await report(driverId, place);
    expect(await positions.findOne({ _id: driverId })).not.to.have.property('freeSince');
  });

  for (const [when, isFirst] of [
    ['is dispatched before the driver is served', true],
    ['is dispatched afterwards', false],
  ] as const) {
    it(`a driver in the cell where the radius of a ride ends gets the ride once inside, if the ride ${when}`, async () => {
      const driverId = newDriverId();
      let place = somewhere();
      const cellAtKm = (km: number) => cellsAt(pointAt(place, km, 0))[0];
      while (cellAtKm(3.01) !== cellAtKm(2.99)) place = somewhere();
      await online(driverId, pointAt(place, 3.01, 0));
      if (!isFirst) await serve();
      const rideId = await dispatchedRide(ctx, place);
      await serve();
      expect(await positions.findOne({ _id: driverId })).to.have.property('atEdge', true);
      await report(driverId, pointAt(place, 2.99, 0));
      await serve();
      expect(await askedFor(rideId)).to.deep.equal([driverId]);
    });
  }

  /** Runs a turn or a round, and `drive` in the middle of it, which moves the driver into the radius of the ride. */
  const meanwhile: Record<string, (driverId: string, place: Point, drive: () => Promise<void>) => Promise<string>> = {
    'a turn serves the driver': async (driverId, place, drive) => {
      const rideId = await dispatchedRide(ctx, place);
      await online(driverId, pointAt(place, 5, 0));
      await serve();
      await report(driverId, pointAt(place, 3.02, 0));
      onceInsteadOf(rides, 'find', (...args) => {
        const found = rides.find(...(args as Parameters<typeof rides.find>));
        return { toArray: () => drive().then(() => found.toArray()) };
      });
      await serveFreeDrivers(ctx);
      return rideId;
    },
    'a round runs': async (driverId, place, drive) => {
      await online(driverId, pointAt(place, 3.02, 0));
      await serve();
      const rideId = await newRide(ctx, { pickup: place });
      onceInsteadOf(rides, 'updateOne', async (...args) => {
        await drive();
        return rides.updateOne(...(args as Parameters<typeof rides.updateOne>));
      });
      await runDispatch(ctx, rideId);
      return rideId;
    },
  };
  for (const [what, run] of Object.entries(meanwhile)) {
    it(`a driver who drives into the radius within the cell while ${what} gets the ride`, async () => {
      const driverId = newDriverId();
      let place = somewhere();
      const cellAtKm = (km: number) => cellsAt(pointAt(place, km, 0))[0];
      while (cellAtKm(3.02) !== cellAtKm(2.97)) place = somewhere();
      const rideId = await run(driverId, place, () => report(driverId, pointAt(place, 2.98, 0)));
      await serve();
      await report(driverId, pointAt(place, 2.97, 0));
      await serve();
      expect(await askedFor(rideId)).to.deep.equal([driverId]);
    });
  }

  it('a driver who declines a request just before a round notes that the list is full gets the ride', async () => {
    const [place, driverId] = [somewhere(), newDriverId()];
    const others = await Promise.all(Array.from({ length: 5 }, () => newRide(ctx, { pickup: place })));
    await online(driverId, place);
    for (const other of others) await runDispatch(ctx, other);
    await serve();
    const { requests = [] } = (await positionOf(driverId)) ?? {};
    const rideId = await dispatchedRide(ctx, place);
    await positions.updateOne({ _id: driverId }, { $unset: { isFull: '' } });
    await declineRequest(ctx, others[0] as string, { driverId });
    await passOver([{ driverId, requests, open: requests }], now());
    await serve();
    expect(await askedFor(rideId)).to.deep.equal([driverId]);
  });

  it('of 600 rides around, a free driver gets the five nearest', async () => {
    const place = somewhere();
    const distances = Array.from({ length: 600 }, (_, index) => 0.004 * (index + 1)).reverse();
    const { nextDueAt: _, ...template } = await storedRide(await newRide(ctx, { pickup: place }));
    await rides.deleteOne({ _id: template._id });
    const copies = distances.map((km) => {
      const pickup = pointAt(place, km, 40);
      const own = { _id: newRideId(ctx.now()), trackToken: newTrackToken(), pickupCells: wideCellsAt(pickup) };
      return { ...template, ...own, pickup, timers: [] };
    });
    await rides.insertMany(copies);
    const rideIds = copies.map(({ _id }) => _id);
    const driverId = newDriverId();
    await online(driverId, place);
    await serve();
    const { requests } = await positionOf(driverId);
    expect(requests).to.have.members(rideIds.slice(-5));
  });

  it('one turn opens 100 rides to 100 drivers at one place with one write of each, five for each driver', async () => {
    const place = somewhere();
    const rideIds = await Promise.all(Array.from({ length: 100 }, () => newRide(ctx, { pickup: place })));
    const drivers = Array.from({ length: 100 }, () => newDriverId());
    await Promise.all(drivers.map((driverId) => online(driverId, place)));
    const before = await Promise.all(rideIds.map(storedRide));
    await serveFreeDrivers(ctx);
    const after = await Promise.all(rideIds.map(storedRide));
    for (const [index, ride] of after.entries()) {
      expect(ride.rev - (before[index]?.rev ?? 0)).to.be.at.most(1);
      expect(ride.asked?.length ?? 0).to.be.at.most(20);
    }
    for (const driverId of drivers) {
      const own = after.filter(({ asked = [] }) => asked.some((each) => each.driverId === driverId));
      expect((await positionOf(driverId)).requests).to.have.members(own.map(({ _id }) => _id));
      expect(own).to.have.length(5);
    }
  });

  it('200 drivers who become free within a second near one ride cause at most two changes of it', async () => {
    const place = somewhere();
    const rideId = await dispatchedRide(ctx, place);
    const { rev } = await storedRide(rideId);
    const from = ctx.now();
    for (let ms = 0; ms < 1_000; ms += 100) {
      await Promise.all(Array.from({ length: 20 }, () => online(newDriverId(), pointAt(place, 1, ms))));
      await serveFreeDrivers(ctx, new Date(from + ms));
    }
    expect((await storedRide(rideId)).rev - rev).to.be.within(1, 2);
    expect(await askedFor(rideId)).to.have.length(40);
  });

  it('the reports of 200 drivers cause one read from the same cell, and two from another cell', async () => {
    const place = somewhere();
    const drivers = Array.from({ length: 200 }, () => newDriverId());
    await Promise.all(drivers.map((driverId) => online(driverId, place)));
    await serve();
    const turnAfter = async (where: Point) => {
      await positions.updateMany({ _id: { $in: drivers } }, { $set: { reportedAt: new Date(0) } });
      await writeReports(new Map(drivers.map((driverId) => [driverId, where])), now());
      return commandsOf(['positions', 'rides'], () => serveFreeDrivers(ctx));
    };
    // A turn without reports reads once too, and turns are at least 75 ms apart: at most 14 reads a second by idle drivers.
    expect(await turnAfter(place)).to.deep.equal(['find positions']);
    expect(await turnAfter(pointAt(place, 1, 40))).to.deep.equal([
      'find positions',
      'find rides',
      'bulkWrite positions',
    ]);
  });

  it('10,000 open rides on the same latitude, 100 km away, cost a free driver no keys', async () => {
    const place = { lat: 12.5, lng: 3 };
    const near = await newRide(ctx, { pickup: place });
    const template = await storedRide(await newRide(ctx, { pickup: { lat: 12.5, lng: 4 } }));
    const copies = Array.from({ length: 10_000 }, () => {
      const { trackToken: _, nextDueAt: __, ...copy } = template;
      return { ...copy, _id: newRideId(ctx.now()), timers: [] };
    });
    await rides.insertMany(copies, { ordered: false });
    await online(newDriverId(), place);
    const plans = await plansOf(() => findOpenRides(wideCellsAround(place, 12.6), now()));
    await rides.deleteMany({ _id: { $in: copies.map(({ _id }) => _id) } });
    const [plan] = plans;
    expect(plan?.stages).to.include('pickupCells_1');
    expect(plan?.executionStats.totalDocsExamined).to.equal(1);
    // One key for each cell that is looked up, and none for the rides far away.
    expect(plan?.executionStats.totalKeysExamined).to.be.at.most(wideCellsAround(place, 12.6).length + 1);
    await applyAction(ctx, near, { action: 'cancel', by: 'partner' }, 'anyone');
  });

  /** Each way in which a ride with five offers wants offers again. */
  const withdrawals: Record<string, (rideId: string, offer: Offer) => Promise<unknown>> = {
    'an offer is withdrawn': (rideId, { offerId }) =>
      applyAction(ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone'),
    'a driver declines after an offer': async (rideId, { driver: { driverId } }) => {
      const asked = [{ driverId, pickupKm: 0 }];
      await rides.updateOne({ _id: rideId }, { $set: { asked } });
      await declineRequest(ctx, rideId, { driverId });
    },
    'a driver with an offer gets another ride': async (rideId, { driver }) => {
      await rides.updateOne({ _id: rideId }, { $set: { asked: [{ driverId: driver.driverId, pickupKm: 0 }] } });
      await rideIn(ctx, 'driver_arriving', { pickup: somewhere(), offers: [{ driver }] });
      await settled(driver.driverId);
    },
  };
  for (const [why, withdraw] of Object.entries(withdrawals)) {
    it(`a ride with five offers is opened to the free drivers around once ${why}, and keeps its next round`, async () => {
      const [place, driverId] = [somewhere(), newDriverId()];
      const rideId = await dispatchedRide(ctx, place);
      const offers: Offer[] = [];
      for (let made = 0; made < 5; made++) offers.push(await offerOn(ctx, rideId));
      await online(driverId, place);
      await serve();
      expect(await askedFor(rideId)).to.deep.equal([]);
      const { rounds, timers } = await storedRide(rideId);
      await withdraw(rideId, offers[0] as Offer);
      await runDispatch(ctx, rideId, 'ask');
      expect(await askedFor(rideId)).to.include(driverId);
      expect(await storedRide(rideId)).to.deep.include({ rounds, timers });
    });
  }

  for (const [step, ms] of [
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`after MongoDB's clock was set ${step} by an hour, a driver gets the ride with the next report`, async () => {
      const [place, driverId] = [somewhere(), newDriverId()];
      await online(driverId, place);
      await serve();
      const rideId = await dispatchedRide(ctx, pointAt(place, 3.5, 40));
      const before = new Date(ctx.now() - ms);
      await rides.updateOne({ _id: rideId }, { $set: { openedToFreeAt: before } });
      await positions.updateOne({ _id: driverId }, { $set: { seenAt: before, freeSince: before } });
      await serve();
      await report(driverId, pointAt(place, 1, 40));
      await serve();
      expect(await askedFor(rideId)).to.deep.equal([driverId]);
    });
  }

  it('the lease of a killed process ends within a second, and another process then opens the ride', async () => {
    const [place, driverId] = [somewhere(), newDriverId()];
    const first = startFreeDrivers(ctx);
    await until(async () => (await ctx.redis.pttl(leaseKey)) > 1);
    const leaseMs = await ctx.redis.pttl(leaseKey);
    await first.stop();
    expect(leaseMs).to.be.at.most(1_000);
    // A killed process leaves its lease.
    await ctx.redis.set(leaseKey, 'of a killed process', 'PX', leaseMs);
    await online(driverId, place);
    const rideId = await dispatchedRide(ctx, place);
    await rides.updateOne({ _id: rideId }, { $unset: { asked: '' } });
    await positions.updateOne({ _id: driverId }, { $set: { requests: [] } });
    const second = startFreeDrivers(ctx);
    await until(async () => (await askedFor(rideId)).includes(driverId));
    await second.stop();
  });

  for (const [state, connect] of [
    ['is away', () => connectTo(1)],
    ['hangs', hangingRedis],
  ] as const) {
    it(`while Redis ${state}, each process opens rides to free drivers`, async () => {
      const [place, driverId] = [somewhere(), newDriverId()];
      const rideId = await dispatchedRide(ctx, place);
      await online(driverId, place);
      const { redis, close } = await connect();
      const loop = startFreeDrivers({ ...ctx, redis });
      await until(async () => (await askedFor(rideId)).includes(driverId));
      await loop.stop();
      redis.disconnect();
      close();
    });
  }

  const connectTo = (port: number) => ({
    redis: connectRedis(`redis://127.0.0.1:${port}`, withLogLines(ctx).ctx.log),
    close() {},
  });

  /** A connection that counts as ready, whose commands are never answered. */
  async function hangingRedis() {
    const hanging = await startSwitch(Number(new URL(ctx.config.secrets.redisUrl).port));
    const { redis } = connectTo(hanging.port);
    await until(async () => redis.status === 'ready');
    hanging.hang();
    return { redis, close: hanging.close };
  }

  it('a loop logs an outage once', async () => {
    const { ctx: logging, lines } = withLogLines(ctx);
    const outcomes = [false, false, false, true, false, false];
    let round = 0;
    const loop = startLoop(logging.log, { failure: 'the turn failed', pauseMs: 1 }, async () => {
      round += 1;
      if (outcomes[round - 1] === false) throw new Error('an outage');
      return 1;
    });
    await until(async () => round > outcomes.length);
    await loop.stop();
    expect(lines.filter(({ msg }) => msg === 'the turn failed')).to.have.length(2);
  });

  it('a driver whom a running round may have missed keeps the mark until the round has widened the radius', async () => {
    const [place, driverId] = [somewhere(), newDriverId()];
    const rideId = await dispatchedRide(ctx, place);
    await online(driverId, pointAt(place, 5, 40));
    // On a busy machine, a round may be 5 s late.
    await makeDue(rideId, 'dispatch', new Date(now().getTime() - 5_000));
    await serveFreeDrivers(ctx, now());
    expect(await positionOf(driverId)).to.have.property('freeSince');
    await rides.updateOne({ _id: rideId }, { $inc: { rounds: 1 } });
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
