import { haversineKm, type Point } from '../base/great-circle.ts';
import { type Update, updateDocuments } from '../base/mongo/batch.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type CarType, carTypes, type Need } from '../base/terms.ts';
import { zonesAround } from './cells.ts';
import { type DriverPosition, notJournaled, placesIndex, positions, seenRecently } from './positions.ts';

/** An available driver near a pickup. */
export interface NearbyDriver {
  driverId: string;
  pickupKm: number;
  /** The rides that were opened to the driver; some may no longer be open for offers. */
  requests: string[];
}

/** The part of a ride that decides which drivers are asked. */
interface SoughtRide {
  pickup: Point;
  carType: CarType;
  passengerCount: number;
  needs?: Need[];
}

interface Search {
  radiusKm: number;
  /** The ids of drivers to exclude. */
  passed: readonly string[];
  limit: number;
  now: Date;
}

/** MongoDB reads ring after ring until it has found the requested number of drivers times this. */
const surplus = 1.5;

/**
 * The available drivers nearest to a pickup, nearest first: their car suits the ride, and they have reported within the
 * last minute. If more than `limit` drivers are at about the same distance, the choice among them is arbitrary.
 */
export async function findNearby(ride: SoughtRide, { radiusKm, passed, limit, now }: Search): Promise<NearbyDriver[]> {
  const { pickup } = ride;
  const usable = usableFor(ride, passed, now);
  const found = new Map<string, NearbyDriver>();
  // Each zone has its own query, because every ring and cell in a query costs time, and in a city the first zone is
  // enough.
  for (const { toKm, rings } of zonesAround(pickup, radiusKm)) {
    for (const { _id, lat, lng, requests } of await readRings(rings, usable, Math.ceil(limit * surplus))) {
      found.set(_id, { driverId: _id, pickupKm: haversineKm(pickup, { lat, lng }), requests });
    }
    if ([...found.values()].filter(({ pickupKm }) => pickupKm <= toKm).length >= limit) break;
  }
  return [...found.values()]
    .filter(({ pickupKm }) => pickupKm <= radiusKm)
    .sort((a, b) => a.pickupKm - b.pickupKm)
    .slice(0, limit)
    .map((driver) => ({ ...driver, pickupKm: Math.round(driver.pickupKm * 100) / 100 }));
}

const usableFor = ({ carType, passengerCount, needs }: SoughtRide, passed: readonly string[], now: Date) => ({
  available: true,
  carType: carType === 'regular' ? { $in: [...carTypes] } : carType,
  seats: { $gte: passengerCount },
  ...(needs && { equipment: { $all: needs } }),
  seenAt: seenRecently(now),
  _id: { $nin: [...passed] },
});

/** True if a car has the seats and the equipment that a ride needs. `usableFor` has the same conditions as a filter. */
export const canCarry = (
  { passengerCount, needs = [] }: Pick<SoughtRide, 'passengerCount' | 'needs'>,
  { seats = 0, equipment = [] }: { seats?: number; equipment?: readonly Need[] },
): boolean => seats >= passengerCount && needs.every((need) => equipment.includes(need));

type Found = Pick<DriverPosition, '_id' | 'lat' | 'lng' | 'requests'>;

async function readRings(rings: number[][], usable: ReturnType<typeof usableFor>, most: number): Promise<Found[]> {
  const inRings = rings.map((cells) => ({ ...usable, cells: { $in: cells } }));
  const projection = { lat: 1, lng: 1, requests: 1 };
  const options = { ...timeLimit(), projection, hint: placesIndex, limit: most, batchSize: most };
  return positions.find<Found>({ $or: inRings }, options).toArray();
}

/** The most open requests of one driver. */
export const maxRequests = 5;

/** A driver's list of requests. */
export interface RequestList {
  driverId: string;
  /** The list as it is stored. */
  requests: readonly string[];
  /** The requests that are still open for offers, and those that are added: at most five. */
  open: readonly string[];
}

/**
 * Writes the request lists of drivers who are still available and whose lists are unchanged, so that concurrent
 * dispatch rounds never give a driver a sixth open request. Resolves with the drivers whose lists were written.
 */
export async function writeRequestLists(lists: readonly RequestList[], now: Date): Promise<Set<string>> {
  if (lists.length === 0) return new Set();
  const updates = lists.map(
    ({ driverId, requests, open }): Update<DriverPosition> => ({
      filter: {
        _id: driverId,
        available: true,
        seenAt: seenRecently(now),
        requests: { $eq: [...requests] },
      },
      change: { $set: { requests: [...open] } },
    }),
  );
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  return new Set(lists.filter((_, index) => outcomes[index] === true).map(({ driverId }) => driverId));
}

/** Removes a ride from the request lists of drivers. Marks those as free whose full list a dispatch round passed over. */
export async function removeFromRequestLists(driverIds: readonly string[], rideId: string): Promise<void> {
  const isFull = { $eq: ['$isFull', true] };
  const change = {
    requests: { $setDifference: ['$requests', [rideId]] },
    freeSince: { $cond: [isFull, '$$NOW', '$freeSince'] },
    freeFrom: { $cond: [isFull, '$$REMOVE', '$freeFrom'] },
    isFull: '$$REMOVE',
  };
  await positions.updateMany({ _id: { $in: [...driverIds] }, requests: rideId }, [{ $set: change }], timeLimit());
}
