import { findAll } from '../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { heldIndex, heldRides, rides } from './ride.ts';
import type { Ride } from './ride-types.ts';
import { endedStatuses } from './transitions.ts';

type StoredRide = Record<string, unknown>;

/** True if a stored ride has timers to fire, events to send, or has not ended. */
export const isUnderWay = ({ status, timers, unsettled }: StoredRide): boolean =>
  !(endedStatuses as readonly unknown[]).includes(status) ||
  Number(unsettled) > 0 ||
  (Array.isArray(timers) && timers.length > 0);

/** The held form of a stored ride. A ride that was held before stays as it is. Pure. */
export function hold<R extends StoredRide>(ride: R, heldAt: Date): R {
  if (ride.heldAt || !isUnderWay(ride)) return ride;
  const { nextDueAt, claim: _, timers, unsettled, ...rest } = ride;
  const held = { timers, ...(nextDueAt !== undefined && { nextDueAt }) };
  return { ...rest, timers: [], unsettled: 0 - Number(unsettled), heldAt, held } as unknown as R;
}

/** Releases a held ride: its timers and deliveries run again. Resolves with false if it was not held. */
export async function releaseRide(rideId: string): Promise<boolean> {
  const { modifiedCount } = await rides.updateOne(
    { _id: rideId, ...heldRides },
    [
      {
        $set: {
          timers: '$held.timers',
          nextDueAt: { $ifNull: ['$held.nextDueAt', '$$REMOVE'] },
          unsettled: { $abs: '$unsettled' },
          rev: { $add: ['$rev', 1] },
        },
      },
      { $unset: ['held', 'heldAt'] },
    ],
    { writeConcern: durableWrites(), ...timeLimit() },
  );
  return modifiedCount === 1;
}

/** The held rides in the order of their ids, at most `limit`. */
export const listHeld = (limit: number): Promise<Pick<Ride, '_id' | 'status' | 'unsettled'>[]> =>
  findAll(rides, heldRides, {
    projection: { status: 1, unsettled: 1 },
    hint: heldIndex,
    sort: heldIndex,
    limit,
    ...timeLimit(),
  });

export const countHeld = (): Promise<number> => rides.countDocuments(heldRides, { hint: heldIndex, ...timeLimit() });
