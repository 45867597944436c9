import type mongoose from 'mongoose';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';

/** Rides are read in stretches of this many: a small answer, and a stop need not wait long. */
const stretchLength = 250;

/** Where a walk has come to: before the first ride of the index, behind its last one, or behind this one. */
export type Position = 'front' | 'end' | { key: unknown; rideId: string };

/** Goes along an index whose first field is a time, the oldest first. */
export interface Walk<R extends Pick<Ride, '_id'>> {
  by: 'nextDueAt' | 'unsettledSince';
  filter: mongoose.mongo.Filter<Ride>;
  projection: object;
  /** Rides up to this time are visited; all where it is null. One without a time counts as old. */
  until: Date | null;
  /** Answers for how many of these rides there was something to do. */
  visit(rides: readonly R[]): Promise<number>;
}

interface Bounds {
  /** The walk ends after this many rides for which there was nothing to do. */
  maxIdle: number;
  /** Asked before each stretch. */
  mayGoOn(): Promise<boolean>;
  /** Told after each stretch. */
  reached(position: Position): void;
}

/** Visits rides from a position on, a stretch at a time, until the end of the index or of its bounds. */
export async function walk<R extends Pick<Ride, '_id'>>(along: Walk<R>, from: Position, bounds: Bounds): Promise<void> {
  let position = from;
  let idle = 0;
  while (position !== 'end' && idle < bounds.maxIdle && (await bounds.mayGoOn())) {
    const { stretch, isLast } = await stretchFrom(along, position);
    const visited = stretch.filter((ride) => isUpTo(along.until, keyOf(along, ride)));
    idle += visited.length - (await along.visit(visited));
    const last = stretch.at(-1);
    const isAtEnd = isLast || !last || visited.length < stretch.length;
    position = isAtEnd ? 'end' : { key: keyOf(along, last), rideId: last._id };
    bounds.reached(position);
  }
}

async function stretchFrom<R extends Pick<Ride, '_id'>>({ by, filter, projection }: Walk<R>, position: Position) {
  const index = { [by]: 1, _id: 1 } as const;
  const behind = typeof position === 'object' && position;
  const start = behind && { min: { [by]: behind.key, _id: behind.rideId } };
  // The first one may be the ride at the position itself.
  const limit = stretchLength + (behind ? 1 : 0);
  // In one answer: the second batch of a cursor would bring up to 16 MB.
  const size = { limit, batchSize: limit };
  const options = { projection: { ...projection, [by]: 1 }, sort: index, hint: index, ...start, ...size };
  const found = await rides.find<R>(filter, options).toArray();
  const stretch = behind ? found.filter(({ _id }) => _id !== behind.rideId) : found;
  return { stretch, isLast: found.length < limit };
}

const keyOf = ({ by }: { by: Walk<never>['by'] }, ride: object): unknown => (ride as Partial<Ride>)[by] ?? null;

const isUpTo = (until: Date | null, key: unknown): boolean => !until || !(key instanceof Date) || key <= until;
