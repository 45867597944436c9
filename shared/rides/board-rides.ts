import type mongoose from 'mongoose';
import { firstRideId } from '../base/ids.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { lostIndex, lostRides, rides } from './ride.ts';
import { movingStatuses, type Ride } from './ride-types.ts';
import { squeezed } from './search-terms.ts';

/** The most rides that are read for one board, of each kind. */
const mostRead = 500;
const mostLost = 50;
/** A ride that was lost longer ago has been noticed, or is no longer needed. */
export const lostForMs = 60 * 60_000;

const boardFields = {
  keyId: 1,
  mode: 1,
  rev: 1,
  status: 1,
  statusAt: 1,
  createdAt: 1,
  openedAt: 1,
  biddingOpensAt: 1,
  biddingEndsAt: 1,
  fare: 1,
  agreedPrice: 1,
  pickup: 1,
  destination: 1,
  distanceKm: 1,
  passenger: 1,
  reference: 1,
  autoAccept: 1,
  pickupAt: 1,
  offers: 1,
  acceptedOfferId: 1,
  driver: 1,
  leg: 1,
  cancelledBy: 1,
  nextRideId: 1,
  replacedBy: 1,
  trackToken: 1,
} as const;

/** A ride on the board of a desk. */
export type BoardRide = Pick<Ride, '_id' | keyof typeof boardFields>;

/**
 * The rides of a key that have not ended, and those that it lost within the last hour and that nobody has booked again.
 * `isCut`: it has more, and the newest are returned. Costs the same for any number of rides: reads at most 500 rides
 * that have not ended, and 50 lost ones.
 */
export async function boardRides(keyId: string, nowMs: number): Promise<{ rides: BoardRide[]; isCut: boolean }> {
  const [active, lost] = await Promise.all([
    find({ keyId, status: { $in: ['bidding', ...movingStatuses] } }, { keyId: 1, status: 1, _id: -1 }, mostRead + 1),
    find({ keyId, ...lostRides, statusAt: { $gt: new Date(nowMs - lostForMs) } }, lostIndex, mostLost),
  ]);
  const shown = active.slice(0, mostRead);
  const withoutSuccessor = lost.filter(({ nextRideId }) => !nextRideId);
  const open = await notBookedAgain(keyId, withoutSuccessor, [...shown, ...lost]);
  return { rides: [...shown, ...open], isCut: active.length > mostRead };
}

const find = (filter: mongoose.mongo.Filter<Ride>, hint: Record<string, 1 | -1>, limit: number): Promise<BoardRide[]> =>
  rides
    .find<BoardRide>(filter, {
      ...committedReads(),
      projection: boardFields,
      hint,
      sort: 'statusAt' in hint ? { statusAt: -1 } : { _id: -1 },
      limit,
      batchSize: limit + 1,
    })
    .toArray();

type Named = Pick<Ride, '_id' | 'passenger' | 'reference'>;

/** The lost rides after whose end no ride was created for the same person. */
async function notBookedAgain(keyId: string, lost: BoardRide[], known: readonly BoardRide[]): Promise<BoardRide[]> {
  const open = lost.filter((ride) => !known.some((other) => isAgain(ride, other)));
  if (open.length === 0) return open;
  const firstEnd = Math.min(...open.map(({ statusAt }) => statusAt.getTime()));
  const completed = await rides
    .find<Named>(
      { keyId, status: 'completed', _id: { $gte: firstRideId(firstEnd) } },
      {
        ...committedReads(),
        projection: { passenger: 1, reference: 1 },
        hint: { keyId: 1, status: 1, _id: -1 },
        sort: { _id: -1 },
        limit: mostRead,
        batchSize: mostRead + 1,
      },
    )
    .toArray();
  return open.filter((ride) => !completed.some((other) => isAgain(ride, other)));
}

/** True if the other ride was created after the end of the lost one, for the same person. */
function isAgain({ statusAt, ...lost }: BoardRide, other: Named): boolean {
  const names = namesOf(lost);
  return other._id >= firstRideId(statusAt.getTime()) && namesOf(other).some((name) => names.includes(name));
}

const namesOf = ({ passenger, reference }: Omit<Named, '_id'>): string[] =>
  [
    ['phone', passenger?.phone],
    ['name', passenger?.name],
    ['reference', reference],
  ].flatMap(([kind, text]) => (squeezed(text) ? `${kind} ${squeezed(text)}` : []));
