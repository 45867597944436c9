import { batchedFind } from '../base/mongo/batch.ts';
import { findAmong } from '../base/mongo/collection.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { NotYetCommitted } from '../base/mongo/outage.ts';
import { findPosition, positions } from '../drivers/positions.ts';
import { rides } from './ride.ts';
import type { ReportedPosition, Ride, RideState } from './ride-types.ts';
import { isMoving } from './transitions.ts';

/**
 * On whose behalf a ride is read or changed. For a key, a ride of another key counts as unknown (contract, section
 * 5.7). For a driver, a ride that was not opened to that driver counts as unknown. `anyone` is for the service's own
 * timers and simulated driver.
 */
export type RideOwner = { keyId: string } | { driverId: string } | 'anyone';

export interface RideRef {
  rideId: string;
  owner: RideOwner;
}

/**
 * Removes the events with an expression, because listing the fields to keep costs MongoDB a third more, and an
 * exclusion cannot be combined with `$$NOW`.
 */
const stateAndClock = { ride: { $unsetField: { field: 'events', input: '$$ROOT' } }, now: '$$NOW' } as const;

type Found = { _id: string; ride: RideState; now: Date };
const findWithClock = batchedFind<Ride, Found>(rides, '_id', stateAndClock);

/** Reads a ride together with MongoDB's clock. Resolves with null for an unknown ride or another owner's. */
export async function readRide({ rideId, owner }: RideRef): Promise<{ ride: RideState; now: Date } | null> {
  const found = await findWithClock(rideId);
  return found && isVisibleTo(found.ride, owner) ? { ride: found.ride, now: found.now } : null;
}

/**
 * Reads the majority-committed state of a ride, which no failover can roll back. Resolves with null like `readRide`.
 * Throws NotYetCommitted if the ride belongs to this owner only in a newer state that the majority does not have yet.
 */
export async function readCommittedRide({ rideId, owner }: RideRef): Promise<RideState | null> {
  const found = await rides.findOne<RideState>({ _id: rideId }, { ...committedReads(), projection: { events: 0 } });
  if (found && isVisibleTo(found, owner)) return found;
  if (await readRide({ rideId, owner })) throw new NotYetCommitted();
  return null;
}

/** Reads these fields of rides in their majority-committed state, with one reply of MongoDB. */
export function readCommittedRides<Read extends { _id: string }>(
  rideIds: readonly string[],
  fields: object,
): Promise<Read[]> {
  return findAmong<Ride, Read>(rides, rideIds, fields, {}, committedReads());
}

function isVisibleTo({ keyId, mode, driver, asked = [] }: RideState, owner: RideOwner): boolean {
  if (owner === 'anyone') return true;
  if ('keyId' in owner) return keyId === owner.keyId;
  const { driverId } = owner;
  return mode === 'live' && (driver?.driverId === driverId || asked.some((each) => each.driverId === driverId));
}

type LocatableRide = Pick<Ride, 'mode' | 'status'> & { driver?: { driverId: string }; reported?: ReportedPosition };

/** Adds the driver's reported position to a moving live ride, unless `lookUpReported` did. Others are unchanged. */
export async function withReportedPosition<R extends LocatableRide>(
  ride: R,
): Promise<R & { reported?: ReportedPosition }> {
  if (ride.reported || ride.mode !== 'live' || !ride.driver || !isMoving(ride.status)) return ride;
  const reported = await findPosition(ride.driver.driverId);
  return reported ? { ...ride, reported } : ride;
}

/** A stage that reads the driver's last reported position as the array `reported`, empty for a simulated driver. */
export const lookUpReported = {
  $lookup: {
    from: positions.collectionName,
    localField: 'driver.driverId',
    foreignField: '_id',
    pipeline: [{ $project: { _id: 0, lat: 1, lng: 1, heading: 1, at: 1 } }],
    as: 'reported',
  },
} as const;
