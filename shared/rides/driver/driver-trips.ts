import { centsOf } from '../../base/cents.ts';
import { findAll } from '../../base/mongo/collection.ts';
import { committedReads } from '../../base/mongo/durability.ts';
import { completedTrips, driverTripIndex, rides } from '../ride.ts';
import type { Ride } from '../ride-types.ts';

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
