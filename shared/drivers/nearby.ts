import { haversineKm, type Point } from '../base/great-circle.ts';
import { type Update, updateDocuments } from '../base/mongo/batch.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type CarType, carTypes } from '../base/terms.ts';
import { zonesAround } from './cells.ts';
import { type DriverPosition, heardLately, notJournaled, placesIndex, positions } from './positions.ts';

/** A driver who may be asked. */
export interface Nearby {
  driverId: string;
  pickupKm: number;
  /** The rides that were opened to the driver; some are no longer open for offers. */
  requests: string[];
}

interface Wanted {
  pickup: Point;
  carType: CarType;
  passengerCount: number;
}

interface Search {
  radiusKm: number;
  /** Drivers to leave out. */
  passed: readonly string[];
  limit: number;
  now: Date;
}

/** MongoDB reads ring after ring, and stops in the ring where it has this many times the wanted number of drivers. */
const surplus = 1.5;

/**
 * The nearest available drivers whose car serves such a ride, who have reported within the last minute, the nearest
 * first. Where more drivers than `limit` are about equally far away, it chooses those that it finds first.
 */
export async function findNearby(wanted: Wanted, { radiusKm, passed, limit, now }: Search): Promise<Nearby[]> {
  const { pickup } = wanted;
  const usable = usableFor(wanted, passed, now);
  const found = new Map<string, Nearby>();
  // One query for each zone: every ring and cell in a query costs time, and in a city the first zone is enough.
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

const usableFor = ({ carType, passengerCount }: Wanted, passed: readonly string[], now: Date) => ({
  available: true,
  carType: carType === 'regular' ? { $in: [...carTypes] } : carType,
  seats: { $gte: passengerCount },
  seenAt: heardLately(now),
  _id: { $nin: [...passed] },
});

type Found = Pick<DriverPosition, '_id' | 'lat' | 'lng' | 'requests'>;

async function readRings(rings: number[][], usable: ReturnType<typeof usableFor>, most: number): Promise<Found[]> {
  const inRings = rings.map((cells) => ({ ...usable, cells: { $in: cells } }));
  const projection = { lat: 1, lng: 1, requests: 1 };
  const options = { ...timeLimit(), projection, hint: placesIndex, limit: most, batchSize: most };
  return positions.find<Found>({ $or: inRings }, options).toArray();
}

/** The most open requests that a driver has. */
export const maxRequests = 5;

/** A free slot in a driver's list of requests. */
export interface RequestSlot {
  driverId: string;
  /** The list as it was read. */
  requests: readonly string[];
  /** Those of them that are still open for offers, fewer than five. */
  open: readonly string[];
}

/**
 * Adds a ride to the lists of drivers who are available at this moment and whose list is as it was read. Resolves with
 * the drivers whose list now has the ride. So no driver gets a sixth open request, however many rounds run at once.
 */
export async function takeSlots(rideId: string, slots: readonly RequestSlot[], now: Date): Promise<Set<string>> {
  if (slots.length === 0) return new Set();
  const updates = slots.map(
    ({ driverId, requests, open }): Update<DriverPosition> => ({
      filter: {
        _id: driverId,
        available: true,
        seenAt: heardLately(now),
        requests: { $eq: [...requests] },
      },
      change: { $set: { requests: [...open, rideId] } },
    }),
  );
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  return new Set(slots.filter((_, index) => outcomes[index] === true).map(({ driverId }) => driverId));
}
