import { findAll } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { openRides, pickupIndex, rides } from './ride.ts';
import type { Ride } from './ride-types.ts';

const fields = {
  pickup: 1,
  pickupCells: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  needs: 1,
  rounds: 1,
  openedToFreeAt: 1,
  excludedDrivers: 1,
  timers: 1,
  asked: '$asked.driverId',
  'offers.withdrawnAt': 1,
} as const;

/** An open live ride, with the fields that decide which free drivers get it. `asked` has the ids of the drivers. */
export type OpenRide = Pick<Ride, '_id' | Exclude<keyof typeof fields, 'asked' | `${string}.${string}`>> & {
  asked?: string[];
  offers: { withdrawnAt?: Date }[];
};

/**
 * The open live rides whose pickups are in these wide cells. Costs nothing for rides elsewhere. A held ride of a
 * restored backup is left out: it cannot be changed, so its drivers would stay marked.
 */
export function findOpenRides(cells: readonly number[], now: Date): Promise<OpenRide[]> {
  const filter = { ...openRides, pickupCells: { $in: [...cells] }, biddingEndsAt: { $gt: now } };
  const options = { ...timeLimit(), projection: fields, hint: pickupIndex };
  return findAll<Ride, OpenRide>(rides, { ...filter, heldAt: { $exists: false } }, options);
}

/** Counts the open live rides by whether any driver was asked. Reads all of them. */
export async function countOpenRides(): Promise<{ asked: number; unasked: number }> {
  const [found] = await rides
    .aggregate<{ asked: number; unasked: number }>(
      [
        { $match: { ...openRides, pickupCells: { $exists: true } } },
        { $set: { isAsked: { $gt: [{ $size: { $ifNull: ['$asked', []] } }, 0] } } },
        {
          $group: {
            _id: null,
            asked: { $sum: { $cond: ['$isAsked', 1, 0] } },
            unasked: { $sum: { $cond: ['$isAsked', 0, 1] } },
          },
        },
      ],
      { ...timeLimit(), hint: pickupIndex },
    )
    .toArray();
  return found ?? { asked: 0, unasked: 0 };
}
