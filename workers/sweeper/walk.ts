import type mongoose from 'mongoose';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';

/** Small pages keep MongoDB's answers small, and a stop waits for one page at most. */
const pageSize = 250;

/** The position of a walk: before the first ride of the index, after its last one, or after this one. */
export type Position = 'front' | 'end' | { key: unknown; rideId: string };

/** A walk along an index whose first field is a time, the oldest ride first. */
export interface Walk<R extends Pick<Ride, '_id'>> {
  by: 'nextDueAt' | 'unsettledSince';
  filter: mongoose.mongo.Filter<Ride>;
  projection: object;
  /** Visits the rides up to this time, or all if null. A ride without a time counts as old. */
  until: Date | null;
  /** Resolves with how many of these rides had something to do. */
  visit(rides: readonly R[]): Promise<number>;
}

interface Bounds {
  /** The walk ends after this many rides that had nothing to do. */
  maxIdle: number;
  /** Called before each page. False ends the walk. */
  mayGoOn(): Promise<boolean>;
  /** Called after each page. */
  onProgress(position: Position): void;
}

/** Visits rides after a position, page by page, to the end of the index or until a bound is reached. */
export async function walk<R extends Pick<Ride, '_id'>>(along: Walk<R>, from: Position, bounds: Bounds): Promise<void> {
  let position = from;
  let idle = 0;
  while (position !== 'end' && idle < bounds.maxIdle && (await bounds.mayGoOn())) {
    const { page, isLast } = await readPage(along, position);
    const visited = page.filter((ride) => isUpTo(along.until, keyOf(along, ride)));
    idle += visited.length - (await along.visit(visited));
    const last = page.at(-1);
    const isAtEnd = isLast || !last || visited.length < page.length;
    position = isAtEnd ? 'end' : { key: keyOf(along, last), rideId: last._id };
    bounds.onProgress(position);
  }
}

async function readPage<R extends Pick<Ride, '_id'>>({ by, filter, projection }: Walk<R>, position: Position) {
  const index = { [by]: 1, _id: 1 } as const;
  const after = typeof position === 'object' && position;
  const start = after && { min: { [by]: after.key, _id: after.rideId } };
  // `min` includes the ride at the position itself.
  const limit = pageSize + (after ? 1 : 0);
  // One batch for the whole page: the second batch of a cursor would bring up to 16 MB.
  const size = { limit, batchSize: limit };
  const options = { projection: { ...projection, [by]: 1 }, sort: index, hint: index, ...start, ...size };
  const found = await rides.find<R>(filter, options).toArray();
  const page = after ? found.filter(({ _id }) => _id !== after.rideId) : found;
  return { page, isLast: found.length < limit };
}

const keyOf = ({ by }: { by: Walk<never>['by'] }, ride: object): unknown => (ride as Partial<Ride>)[by] ?? null;

const isUpTo = (until: Date | null, key: unknown): boolean => !until || !(key instanceof Date) || key <= until;
