import type { Context } from '../../shared/base/context.ts';
import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { type Update, updateDocuments } from '../../shared/base/mongo/batch.ts';
import { mongoNow } from '../../shared/base/mongo/clock.ts';
import { timeLimit } from '../../shared/base/mongo/durability.ts';
import { cellsAt } from '../../shared/drivers/cells.ts';
import { type DriverPosition, freeDrivers, notJournaled, positions } from '../../shared/drivers/positions.ts';
import { openRides, rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { openToFreeDrivers, presentRadiusKm, wantsOffers } from '../dispatch.ts';
import { logFailedPart, startLoop, takeTurn } from './turns.ts';

const intervalMs = 150;
/** A ride is opened to free drivers at most once in this time, so that many of them cause few changes of the ride. */
const perRideMs = 1_000;
/** One turn serves this many drivers, and reads this many rides. */
const maxDrivers = 500;
const maxRides = 500;
/** A cell is at most this long, so a driver in it may enter the radius of a ride without leaving the cell. */
const cellKm = 0.6;

/**
 * Opens the rides around drivers who become available to them at once, instead of with the next dispatch round, until it
 * is stopped. Every worker process does this; a lease lets one of them do it at a time. The mark of a driver is stored
 * with the change that makes the driver available, and is removed only afterwards, so nothing is lost by a crash.
 */
export function startFreeDrivers(ctx: Context): { stop(): Promise<void> } {
  return startLoop(ctx.log, { failure: 'opening rides to free drivers failed', pauseMs: intervalMs }, async () => {
    if (ctx.redis.status !== 'ready') return intervalMs;
    const lease = { key: '{rides:free-drivers}:lease', restAfterErrorMs: intervalMs };
    await takeTurn(ctx.redis, lease, async () => {
      await serveFreeDrivers(ctx);
      return intervalMs;
    });
    return intervalMs / 2;
  });
}

const driverFields = { lat: 1, lng: 1, carType: 1, seats: 1, equipment: 1, available: 1, freeSince: 1 } as const;
type FreeDriver = Pick<DriverPosition, '_id' | keyof typeof driverFields>;

const rideFields = {
  pickup: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  needs: 1,
  rounds: 1,
  openedToFreeAt: 1,
  excludedDrivers: 1,
  'asked.driverId': 1,
  'offers.withdrawnAt': 1,
} as const;
type OpenRide = Pick<Ride, '_id' | Exclude<keyof typeof rideFields, `${string}.${string}`>> & {
  asked?: { driverId: string }[];
  offers: { withdrawnAt?: Date }[];
};

/**
 * Opens the rides around the drivers who have become available to them. May run twice or late: a ride is opened to a
 * driver once. Resolves with the number of drivers who were served; the others are served in a later turn.
 */
export async function serveFreeDrivers(ctx: Context): Promise<number> {
  const found = positions.find<FreeDriver>(freeDrivers, {
    ...timeLimit(),
    projection: driverFields,
    limit: maxDrivers,
  });
  const marked = await found.sort({ freeSince: 1 }).toArray();
  if (marked.length === 0) return 0;
  const available = marked.filter((driver) => driver.available);
  const later = new Set<string>();
  const atEdge = new Set<string>();
  if (available.length > 0) {
    const now = await mongoNow();
    for (const ride of await readRidesAround(ctx, available, now)) {
      const fitting = wantsOffers(ride) ? available.filter((driver) => fits(ride, driver)) : [];
      const radiusKm = presentRadiusKm(ctx.config.dispatch, ride);
      const within = (km: number) => fitting.filter((driver) => haversineKm(ride.pickup, driver) <= km);
      const inside = within(radiusKm);
      for (const driver of within(radiusKm + cellKm)) if (!inside.includes(driver)) atEdge.add(driver._id);
      if (inside.length === 0) continue;
      const wasJustOpened = ride.openedToFreeAt && Math.abs(now.getTime() - ride.openedToFreeAt.getTime()) < perRideMs;
      if (wasJustOpened || !(await open(ctx, ride._id))) for (const { _id } of inside) later.add(_id);
    }
  }
  const served = marked.filter(({ _id }) => !later.has(_id));
  await unmark(served, atEdge);
  return served.length;
}

/** Resolves with false if the ride could not be opened; a later turn tries again. */
async function open(ctx: Context, rideId: string): Promise<boolean> {
  try {
    await openToFreeDrivers(ctx, rideId);
    return true;
  } catch (error) {
    logFailedPart(ctx.log, 'a ride could not be opened to free drivers', { rideId }, error);
    return false;
  }
}

const fits = (ride: OpenRide, driver: FreeDriver): boolean =>
  (ride.carType === 'regular' || ride.carType === driver.carType) &&
  (driver.seats ?? 0) >= ride.passengerCount &&
  (ride.needs ?? []).every((need) => driver.equipment?.includes(need)) &&
  !(ride.asked ?? []).some(({ driverId }) => driverId === driver._id) &&
  !(ride.excludedDrivers ?? []).includes(driver._id);

/** The open rides within the largest radius around these drivers, and some that are slightly further away. */
async function readRidesAround(ctx: Context, around: readonly FreeDriver[], now: Date): Promise<OpenRide[]> {
  const radiusKm = Math.max(...ctx.config.dispatch.rounds.map((round) => round.radiusKm)) + cellKm;
  // Drivers of the same cell of 4 km share one box.
  const places = new Map(around.map((driver) => [cellsAt(driver)[2], driver]));
  const boxes = [...places.values()].flatMap((place) => boxesAround(place, radiusKm + 8));
  const isOpen = { ...openRides, biddingEndsAt: { $gt: now }, 'timers.name': { $ne: 'open' } } as const;
  // A held ride cannot be changed, so its drivers would stay marked.
  const filter = { ...isOpen, heldAt: { $exists: false }, $or: boxes };
  return rides
    .find<OpenRide>(filter, { ...timeLimit(), projection: rideFields, limit: maxRides, batchSize: maxRides })
    .toArray();
}

const kmPerDegree = 111;

/** One box of coordinates around a place, or two if it crosses 180 degrees. */
function boxesAround({ lat, lng }: Point, km: number) {
  const degrees = km / kmPerDegree;
  const narrowest = Math.cos((Math.min(89, Math.abs(lat) + degrees) * Math.PI) / 180);
  const [west, east] = [lng - degrees / narrowest, lng + degrees / narrowest];
  const inLatitude = { 'pickup.lat': { $gte: lat - degrees, $lte: lat + degrees } };
  const between = (from: number, to: number) => ({ ...inLatitude, 'pickup.lng': { $gte: from, $lte: to } });
  if (east - west >= 360) return [between(-180, 180)];
  if (west < -180) return [between(-180, east), between(west + 360, 180)];
  if (east > 180) return [between(west, 180), between(-180, east - 360)];
  return [between(west, east)];
}

/** Removes the marks, unless a driver has become available again in the meantime. */
async function unmark(served: readonly FreeDriver[], atEdge: ReadonlySet<string>): Promise<void> {
  const updates = served.map(
    ({ _id, freeSince }): Update<DriverPosition> => ({
      filter: { _id, freeSince },
      change: atEdge.has(_id)
        ? { $set: { atEdge: true }, $unset: { freeSince: '' } }
        : { $unset: { freeSince: '', atEdge: '' } },
    }),
  );
  if (updates.length > 0) await updateDocuments(positions, updates, notJournaled);
}
