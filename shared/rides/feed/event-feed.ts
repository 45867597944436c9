import mongoose from 'mongoose';
import { batch } from '../../base/mongo/batch.ts';
import { findAll } from '../../base/mongo/collection.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { durableRead } from '../../base/mongo/durable-read.ts';
import { feedIndex, rides } from '../ride.ts';
import type { Ride, RideEvent } from '../ride-types.ts';
import type { FeedMark } from './raise-feed-mark.ts';

/**
 * The event feed: the events of all rides of a key, ordered by feed time, then by ride. The feed time of an event is
 * its time, or later if MongoDB's clock was set back. Within a ride feed times strictly increase, so no two events have
 * the same cursor. A reader that continues after its last cursor skips no event, however MongoDB's clock is set,
 * because no event is added before a cursor that was shown:
 *
 * - events up to a feed time are shown 3 s after a mark at or above it was stored (feed-mark.ts, showing-marks.ts);
 * - an event gets a feed time above a copy of the mark that is at most 1 s old, and leaves its process within 1.5 s
 *   after the process requested the copy. MongoDB writes it within a second, and only while its clock is at most 2 s
 *   ahead of, and at most 0.5 s behind, the clock of the event's decision (write-change.ts);
 * - a page is shown only after a later write is durable (durable-read.ts).
 */
export interface FeedCursor {
  /** The feed time (Unix ms). */
  at: number;
  rideId: string;
}

interface FeedEvent {
  rideId: string;
  event: RideEvent;
}

export const toFeedCursor = ({ rideId, event }: FeedEvent): FeedCursor => ({ at: event.at.getTime(), rideId });

/** Negative if `one` comes first. */
const compare = (one: FeedCursor, other: FeedCursor): number =>
  one.at - other.at || (one.rideId < other.rideId ? -1 : Number(one.rideId > other.rideId));

export const isAfter = (cursor: FeedCursor, other: FeedCursor | null): boolean => !other || compare(cursor, other) > 0;

export interface FeedPage {
  events: FeedEvent[];
  /** True if the next page can be read now. */
  hasMore: boolean;
  /** The feed time of the first event that was read but is not shown yet. */
  unshown?: number;
}

/**
 * The events of a key after a cursor (null: from the start), in order, at most `limit`, up to the feed time
 * `shownUntil`. Reads about `limit` rides, however many the key has. Throws NotYetCommitted while a failover may roll
 * back the events that were read.
 */
export function readFeed(
  keyId: string,
  after: FeedCursor | null,
  limit: number,
  shownUntil: number,
): Promise<FeedPage> {
  return durableRead(
    () => readPage(keyId, after, limit, shownUntil),
    ({ events }) => events.length === 0,
  );
}

async function readPage(keyId: string, after: FeedCursor | null, limit: number, shownUntil: number): Promise<FeedPage> {
  const from = after ?? { at: 0, rideId: '' };
  // Two more than the limit: one because the ride of `from` is found again, and one to detect a next page.
  const most = limit + 2;
  const { MaxKey } = mongoose.mongo;
  const found = await findAll<Ride, Pick<Ride, '_id' | 'events'>>(
    rides,
    { keyId, seq: { $gt: 0 } },
    {
      ...timeLimit(),
      // The index orders the rides by their first event at or after `from`.
      hint: feedIndex,
      min: { keyId, 'events.at': new Date(from.at), _id: from.rideId },
      max: { keyId, 'events.at': new MaxKey(), _id: new MaxKey() },
      projection: {
        events: { $filter: { input: '$events', cond: { $gte: ['$$this.at', new Date(from.at)] } } },
      },
      limit: most,
    },
  );
  const firsts = found.map((ride) => cursorsFrom(ride, from)[0] ?? from);
  assertInOrder(firsts);
  // The end of this read: the rides that it has not found have no event before this cursor.
  const last = found.length === most ? firsts.at(-1) : undefined;
  const events = found
    .flatMap(({ _id: rideId, events }) => events.map((event) => ({ rideId, event })))
    .filter((event) => isShown(toFeedCursor(event)))
    .sort((one, other) => compare(toFeedCursor(one), toFeedCursor(other)));
  const unshown = firsts.find(({ at }) => at > shownUntil)?.at;
  return { events: events.slice(0, limit), hasMore: events.length > limit, unshown };

  function isShown(cursor: FeedCursor): boolean {
    return isAfter(cursor, after) && cursor.at <= shownUntil && !(last && isAfter(cursor, last));
  }
}

const cursorsFrom = ({ _id: rideId, events }: Pick<Ride, '_id' | 'events'>, from: FeedCursor): FeedCursor[] =>
  events.map((event) => toFeedCursor({ rideId, event })).filter((cursor) => compare(cursor, from) >= 0);

/** A page is complete only if MongoDB walked the index in its order. */
function assertInOrder(cursors: readonly FeedCursor[]): void {
  for (const [index, cursor] of cursors.entries()) {
    const before = cursors[index - 1];
    if (before && isAfter(before, cursor)) throw new Error('the feed was not read in order');
  }
}

/**
 * The last cursor of each of these keys whose feed time is from `from` to `to` (Unix ms); keys without one are missing.
 * Costs one query. The result only shows which feeds are worth reading.
 */
export async function latestCursors(
  keyIds: readonly string[],
  from: number,
  to: number,
): Promise<Map<string, FeedCursor>> {
  const between = { $gte: new Date(from), $lte: new Date(to) };
  const found = await rides
    .aggregate<{ _id: string; last: { at: Date; rideId: string } }>(
      [
        { $match: { keyId: { $in: keyIds }, seq: { $gt: 0 }, events: { $elemMatch: { at: between } } } },
        {
          $project: {
            keyId: 1,
            at: {
              $max: { $filter: { input: '$events.at', cond: { $lte: ['$$this', between.$lte] } } },
            },
          },
        },
        { $group: { _id: '$keyId', last: { $max: { at: '$at', rideId: '$_id' } } } },
      ],
      { ...timeLimit(), hint: feedIndex, batchSize: keyIds.length + 1 },
    )
    .toArray();
  return new Map(found.map(({ _id, last }) => [_id, { at: last.at.getTime(), rideId: last.rideId }]));
}

interface FeedRequest {
  keyId: string;
  after: FeedCursor | null;
  limit: number;
}

/** A page, and the time up to which the feed was read (Unix ms). */
type ReadPage = FeedPage & { readUntil: number };

/** Batches reads: requests that wait at the same cursor wake up together and share one read. */
export const batchedFeedReads = (feed: FeedMark): ((request: FeedRequest) => Promise<ReadPage>) =>
  batch<FeedRequest, ReadPage>(async (requests) => {
    const readUntil = await feed.shownUntil();
    const read = async ({ keyId, after, limit }: FeedRequest): Promise<ReadPage> => {
      const page = await readFeed(keyId, after, limit, readUntil);
      if (page.unshown) feed.reach(page.unshown);
      return { ...page, readUntil };
    };
    const reads = new Map<string, Promise<ReadPage | Error>>();
    const readOnce = (request: FeedRequest) => {
      const id = JSON.stringify(request);
      const started = reads.get(id) ?? read(request).catch((error: Error) => error);
      reads.set(id, started);
      return started;
    };
    return Promise.all(requests.map(readOnce));
  });
