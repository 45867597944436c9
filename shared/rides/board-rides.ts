import type mongoose from 'mongoose';
import type { Config } from '../base/config.ts';
import { firstRideId } from '../base/ids.ts';
import { findAll } from '../base/mongo/collection.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { fieldsIn, projectionOf } from './fields.ts';
import { waitsToOpen } from './opening.ts';
import { withReportedPosition } from './read-ride.ts';
import { lostIndex, lostRides, plannedIndex, plannedRides, rides, statusIndex } from './ride.ts';
import { movingStatuses, type ReportedPosition, type Ride } from './ride-types.ts';
import { squeezed } from './search-terms.ts';

/** The most rides that are read for one board, of each kind. */
const mostRead = 500;
const mostLost = 50;
/** A ride that was lost longer ago has been noticed, or is no longer needed. */
export const lostForMs = 60 * 60_000;
/** An open ride stays on the board for this long after its bidding should have ended: its timer may be late. */
const lateTimerMs = 60 * 60_000;

const boardFields = {
  accountId: 1,
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
  ...projectionOf(fieldsIn('lists')),
  offers: 1,
  'asked.driverId': 1,
  acceptedOfferId: 1,
  driver: 1,
  leg: 1,
  route: 1,
  cancelledBy: 1,
  nextRideId: 1,
  replacedBy: 1,
  trackToken: 1,
  pinCode: 1,
  driverNotes: 1,
  helpAskedAt: 1,
} as const;

/** A ride on the board of a desk. */
export type BoardRide = Pick<Ride, '_id' | Exclude<keyof typeof boardFields, 'asked.driverId'>> & {
  reported?: ReportedPosition;
  asked?: { driverId: string }[];
};

/**
 * The rides of a key that have not ended, and those that it lost within the last hour and that nobody has booked again.
 * Rides for later are read separately, soonest first, so they displace no ride that may need a person. Reads at most
 * 500 rides under way, 500 open ones, 500 for later and 50 lost ones. Passes over the rides for later that were created
 * within the bidding time and the hour before.
 */
export async function boardRides(
  keyId: string,
  nowMs: number,
  { biddingTimeoutMs }: Pick<Config, 'biddingTimeoutMs'>,
): Promise<BoardRides> {
  const firstOpen = firstRideId(Math.max(0, nowMs - biddingTimeoutMs - lateTimerMs));
  const [moving, open, planned, lost] = await Promise.all([
    find({ keyId, status: { $in: movingStatuses } }, statusIndex, mostRead + 1),
    find(
      { keyId, status: 'bidding', _id: { $gte: firstOpen }, biddingOpensAt: { $exists: false } },
      statusIndex,
      mostRead + 1,
    ),
    find({ keyId, ...plannedRides }, plannedIndex, mostRead + 1),
    find({ keyId, ...lostRides, statusAt: { $gt: new Date(nowMs - lostForMs) } }, lostIndex, mostLost),
  ]);
  const shown = [moving, open, planned].flatMap((rides) => rides.slice(0, mostRead));
  const withoutSuccessor = lost.filter(({ nextRideId }) => !nextRideId);
  const toBook = await notBookedAgain(keyId, withoutSuccessor, [...shown, ...lost]);
  const next = planned[mostRead];
  const isUrgentCut = moving.length > mostRead || open.length > mostRead || (next !== undefined && !waitsToOpen(next));
  return {
    rides: [...(await Promise.all(shown.map(withReportedPosition))), ...toBook],
    isCut: isUrgentCut || next !== undefined,
    isUrgentCut,
  };
}

export interface BoardRides {
  rides: BoardRide[];
  /** The key has more rides. */
  isCut: boolean;
  /** The key has more rides that may need a person now. */
  isUrgentCut: boolean;
}

type Index = typeof statusIndex | typeof plannedIndex | typeof lostIndex;

/** The first rides in the order of the index. */
const find = (filter: mongoose.mongo.Filter<Ride>, hint: Index, limit: number): Promise<BoardRide[]> => {
  const { keyId: _keyId, ...order } = hint;
  const sort: Record<string, 1 | -1> = 'status' in hint ? { _id: -1 } : order;
  const options = { ...committedReads(), projection: boardFields, hint, sort, limit };
  return findAll<Ride, BoardRide>(rides, filter, options);
};

type Named = Pick<Ride, '_id' | 'passenger' | 'reference'>;

/** The lost rides after whose end no ride was created for the same person. */
async function notBookedAgain(keyId: string, lost: BoardRide[], known: readonly BoardRide[]): Promise<BoardRide[]> {
  const open = lost.filter((ride) => !known.some((other) => isAgain(ride, other)));
  if (open.length === 0) return open;
  const firstEnd = Math.min(...open.map(({ statusAt }) => statusAt.getTime()));
  const filter = { keyId, status: 'completed', _id: { $gte: firstRideId(firstEnd) } } as const;
  const completed = await findAll<Ride, Named>(rides, filter, {
    ...committedReads(),
    projection: { passenger: 1, reference: 1 },
    hint: statusIndex,
    sort: { _id: -1 },
    limit: mostRead,
  });
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
