import { type CarType, carTypes } from '../car-types.ts';
import { haversineKm, type Point } from '../haversine.ts';
import { timeLimit } from '../mongo/durability.ts';
import { ringsAround } from './cells.ts';
import { type DriverPosition, placesIndex, positions, reportLifeMs } from './positions.ts';

/** A driver who may be asked. */
export interface Nearby {
  driverId: string;
  pickupKm: number;
  /** The rides that were opened to the driver; some no longer take offers. */
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

/** MongoDB reads ring after ring, and stops in the ring where it has so many times the drivers that are wanted. */
const surplus = 2.5;

/**
 * The nearest available drivers whose car serves such a ride, who have reported within the last minute, the nearest
 * first. Where more drivers than `limit` are about equally far away, it takes those that it finds first.
 */
export async function findNearby(
  { pickup, carType, passengerCount }: Wanted,
  { radiusKm, passed, limit, now }: Search,
): Promise<Nearby[]> {
  const usable = {
    available: true,
    carType: carType === 'regular' ? { $in: [...carTypes] } : carType,
    seats: { $gte: passengerCount },
    seenAt: { $gte: new Date(now.getTime() - reportLifeMs) },
    _id: { $nin: [...passed] },
  };
  const rings = ringsAround(pickup, radiusKm).map((cells) => ({ ...usable, cells: { $in: cells } }));
  const most = Math.ceil(limit * surplus);
  const found = await positions
    .find<Pick<DriverPosition, '_id' | 'lat' | 'lng' | 'requests'>>(
      { $or: rings },
      {
        ...timeLimit(),
        projection: { lat: 1, lng: 1, requests: 1 },
        hint: placesIndex,
        limit: most,
        batchSize: most,
      },
    )
    .toArray();
  return found
    .map(({ _id, lat, lng, requests }) => ({ driverId: _id, pickupKm: haversineKm(pickup, { lat, lng }), requests }))
    .filter(({ pickupKm }) => pickupKm <= radiusKm)
    .sort((a, b) => a.pickupKm - b.pickupKm)
    .slice(0, limit)
    .map((driver) => ({ ...driver, pickupKm: Math.round(driver.pickupKm * 100) / 100 }));
}
