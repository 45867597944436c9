import { findPosition } from '../../drivers/positions.ts';
import type { ReportedPosition, Ride } from '../ride-types.ts';
import { isMoving } from '../transitions.ts';

type Followed = Pick<Ride, 'mode' | 'status'> & { driver?: { driverId: string } };

/**
 * Adds where its driver reported to be last to a live ride whose trip is moving. Any other ride is returned as it is, and
 * costs no read.
 */
export async function withReportedPosition<R extends Followed>(ride: R): Promise<R & { reported?: ReportedPosition }> {
  if (ride.mode !== 'live' || !ride.driver || !isMoving(ride.status)) return ride;
  const reported = await findPosition(ride.driver.driverId);
  return reported ? { ...ride, reported } : ride;
}
