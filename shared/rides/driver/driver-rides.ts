import type mongoose from 'mongoose';
import { centsOf } from '../../base/cents.ts';
import { batch } from '../../base/mongo/batch.ts';
import { findAll, findAmong } from '../../base/mongo/collection.ts';
import { committedReads, timeLimit } from '../../base/mongo/durability.ts';
import { type Commitment, type DriverRecord, drivers, isActive } from '../../drivers/driver.ts';
import { type Eta, etaOf } from '../arrival.ts';
import { fieldsIn, projectionOf } from '../fields.ts';
import { withReportedPosition } from '../read-ride.ts';
import { completedTrips, driverTripIndex, rides } from '../ride.ts';
import { movingStatuses, type Offer, type Ride } from '../ride-types.ts';

const shownFields = {
  status: 1,
  statusAt: 1,
  fare: 1,
  agreedPrice: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  distanceKm: 1,
  pickup: 1,
  destination: 1,
  biddingEndsAt: 1,
  asked: 1,
  offers: 1,
  'driver.driverId': 1,
  mode: 1,
  leg: 1,
  route: 1,
  acceptedOfferId: 1,
  driverNotes: 1,
  ...projectionOf(fieldsIn('ownRide')),
} as const;

/** The fields of a ride that are read for drivers. The presenter selects the fields that a driver may see. */
export type RideOfDriver = Pick<Ride, '_id' | Exclude<keyof typeof shownFields, 'driver.driverId'>> & {
  driver?: { driverId: string };
  /** Only of the ride that the driver is on. */
  eta?: Eta;
};

/** A live ride that is open to a driver. */
export interface DriverRequest {
  ride: RideOfDriver;
  pickupKm: number;
  /** The driver's own live offer. */
  offer?: Offer;
}

/** The rides that concern a driver now. */
export interface DriverRides {
  /** The rides that are open to the driver and not declined, by the end of bidding. Empty while on a ride. */
  requests: DriverRequest[];
  /** The ride that the driver is on. */
  ride: RideOfDriver | null;
}

/** Finds the open and the moving live rides of these drivers. Each of the two conditions has an index. */
function ridesFilter(driverIds: readonly string[], nowMs: number): mongoose.mongo.Filter<Ride> {
  const bidding = { mode: 'live', status: 'bidding', 'asked.driverId': { $in: [...driverIds] } } as const;
  const moving = { mode: 'live', status: { $in: movingStatuses }, 'driver.driverId': { $in: [...driverIds] } } as const;
  return { $or: [{ ...bidding, biddingEndsAt: { $gt: new Date(nowMs) } }, moving] };
}

/** Reads the rides that concern each of these drivers, in one query, in their majority-committed state. */
async function findRidesOfDrivers(driverIds: readonly string[], nowMs: number): Promise<DriverRides[]> {
  const options = { ...committedReads(), projection: shownFields };
  const found = await findAll<Ride, RideOfDriver>(rides, ridesFilter(driverIds, nowMs), options);
  return withEtas(ofEach(driverIds, found), nowMs);
}

/** Reads the rides that concern one driver. Concurrent reads share one query. */
export const ridesOfDriver = (now: () => number): ((driverId: string) => Promise<DriverRides>) =>
  batch<string, DriverRides>((driverIds) => findRidesOfDrivers(driverIds, now()));

/** Reads the key hashes and rides of these drivers in one query. An inactive driver has no `keyHash`. */
export async function findDriversWithRides(
  driverIds: readonly string[],
  nowMs: number,
): Promise<{ driverId: string; keyHash?: string; rides: DriverRides }[]> {
  const found = await drivers
    .aggregate<Pick<DriverRecord, '_id' | 'hash' | 'suspendedAt' | 'revokedAt'> | RideOfDriver>(
      [
        { $match: { _id: { $in: [...driverIds] } } },
        { $project: { hash: 1, suspendedAt: 1, revokedAt: 1 } },
        {
          $unionWith: {
            coll: rides.collectionName,
            pipeline: [{ $match: ridesFilter(driverIds, nowMs) }, { $project: shownFields }],
          },
        },
      ],
      { ...committedReads(), batchSize: 10_000 },
    )
    .toArray();
  const keys = new Map<string, string>();
  const foundRides: RideOfDriver[] = [];
  for (const document of found) {
    if (!('hash' in document)) foundRides.push(document);
    else if (isActive(document)) keys.set(document._id, document.hash);
  }
  const ofDrivers = await withEtas(ofEach(driverIds, foundRides), nowMs);
  return driverIds.map((driverId, index) => ({
    driverId,
    keyHash: keys.get(driverId),
    rides: ofDrivers[index] as DriverRides,
  }));
}

/** The rides of each driver, in the order of the drivers. */
function ofEach(driverIds: readonly string[], found: readonly RideOfDriver[]): DriverRides[] {
  const byDriver = new Map(
    driverIds.map((driverId): [string, DriverRides] => [driverId, { requests: [], ride: null }]),
  );
  for (const ride of found) addTo(byDriver, ride);
  return driverIds.map((driverId) => inOrder(byDriver.get(driverId)));
}

/** Adds the ETAs of the rides that drivers are on, to the minute: a stream sends a ride again when its ETA changes. */
const withEtas = (found: readonly DriverRides[], nowMs: number): Promise<DriverRides[]> =>
  Promise.all(
    found.map(async ({ requests, ride }) => {
      const eta = ride && etaOf(await withReportedPosition(ride), nowMs);
      const at = eta && Math.ceil(eta.at / minuteMs) * minuteMs;
      return { requests, ride: ride && { ...ride, ...(eta && at && { eta: { ...eta, at } }) } };
    }),
  );

const minuteMs = 60_000;

function addTo(byDriver: ReadonlyMap<string, DriverRides>, ride: RideOfDriver): void {
  if (ride.status !== 'bidding') {
    const entry = byDriver.get(ride.driver?.driverId ?? '');
    if (entry) entry.ride = ride;
    return;
  }
  for (const { driverId, pickupKm, declinedAt } of ride.asked ?? []) {
    const offer = ride.offers.find((each) => each.driver.driverId === driverId && !each.withdrawnAt);
    // A declined request is shown again with an offer that the driver made afterwards.
    if (!declinedAt || offer) byDriver.get(driverId)?.requests.push({ ride, pickupKm, offer });
  }
}

function inOrder({ requests, ride }: DriverRides = { requests: [], ride: null }): DriverRides {
  if (ride) return { requests: [], ride };
  const ends = ({ ride: { biddingEndsAt } }: DriverRequest) => biddingEndsAt.getTime();
  return { requests: requests.sort((a, b) => ends(a) - ends(b) || (a.ride._id < b.ride._id ? -1 : 1)), ride };
}

/** The moving rides of these drivers: driver id -> ride id. Drivers without one are missing. */
export async function movingRidesOf(driverIds: readonly string[]): Promise<Map<string, string>> {
  if (driverIds.length === 0) return new Map();
  const moving = { mode: 'live', status: { $in: movingStatuses }, 'driver.driverId': { $in: [...driverIds] } } as const;
  const found = await findAll(rides, moving, { projection: { 'driver.driverId': 1 } });
  return new Map(found.map(({ _id, driver }) => [driver?.driverId ?? '', _id]));
}

/** The driver's moving ride and live offers, which a suspension ends. */
export async function commitmentsOf(driverId: string): Promise<Commitment[]> {
  const [moving, open] = await Promise.all([
    movingRidesOf([driverId]),
    findAll(
      rides,
      { mode: 'live', status: 'bidding', 'asked.driverId': driverId },
      { ...timeLimit(), projection: { offers: 1 } },
    ),
  ]);
  const offered = open.flatMap(({ _id: rideId, offers }) => {
    const offer = offers.find((each) => each.driver.driverId === driverId && !each.withdrawnAt);
    return offer ? [{ rideId, offerId: offer.offerId }] : [];
  });
  return [...[...moving.values()].map((rideId) => ({ rideId })), ...offered];
}

/** The given rides that are still open for offers. */
export async function openRidesOf(rideIds: readonly string[], now: Date): Promise<Set<string>> {
  const isOpen = { status: 'bidding', biddingEndsAt: { $gt: now } } as const;
  const found = await findAmong(rides, rideIds, { _id: 1 }, isOpen);
  return new Set(found.map(({ _id }) => _id));
}

/** A completed trip of a driver. */
type DriverTrip = Pick<Ride, '_id' | 'statusAt' | 'agreedPrice' | 'distanceKm'>;

/** More trips than a driver can complete in a week. */
const mostTrips = 1_000;

/**
 * Reads a driver's completed trips since a time: their number, the sum of their prices in USD, each rounded to cents as on
 * the partner's statement, and the last trip, which may have ended earlier.
 */
export async function tripsOfDriver(
  driverId: string,
  since: Date,
): Promise<{ trips: number; earned: number; last: DriverTrip | null }> {
  const found = await newestTrips(driverId, { statusAt: { $gte: since } }, mostTrips);
  const [last = null] = found.length > 0 ? found : await newestTrips(driverId, {}, 1);
  const cents = found.reduce((sum, { agreedPrice = 0 }) => sum + centsOf(agreedPrice), 0);
  return { trips: found.length, earned: cents / 100, last };
}

const newestTrips = (driverId: string, span: { statusAt?: { $gte: Date } }, limit: number): Promise<DriverTrip[]> =>
  findAll<Ride, DriverTrip>(
    rides,
    { 'driver.driverId': driverId, ...completedTrips, ...span },
    {
      projection: { statusAt: 1, agreedPrice: 1, distanceKm: 1 },
      sort: { statusAt: -1 },
      hint: driverTripIndex,
      limit,
      ...committedReads(),
    },
  );
