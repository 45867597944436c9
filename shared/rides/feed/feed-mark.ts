import mongoose from 'mongoose';
import { collection, recordSchema } from '../../base/mongo/collection.ts';
import { presentServer } from '../../base/mongo/connect-mongo.ts';
import { timeLimit } from '../../base/mongo/durability.ts';

/**
 * The mark of the event feed: a feed time, stored in MongoDB, that only grows. Events with feed times up to the mark
 * may be shown 3 s after it was stored (showing-marks.ts), so an event that is written later must have a higher feed
 * time. Therefore a writer's copy of the mark is at most `copyLimitMs` old when it decides (write-change.ts).
 *
 * The mark follows MongoDB's clock. If that clock was set back, the mark grows at half the clock's speed until the
 * clock has caught up.
 */
export interface StoredMark {
  _id: 'feed';
  mark: Date;
  /** Events up to this feed time are shown: a process has waited 3 s after this mark was stored. */
  shown: Date;
  /** MongoDB's clock at the last change. */
  now: Date;
}

/** In the collection of the fence, which a restored backup keeps: an older mark would let events be skipped. */
const FeedMarkModel = mongoose.model('FeedMark', recordSchema(), 'fences');
export const marks = collection<StoredMark>(FeedMarkModel);
export const markId = 'feed';

/** The maximum age of a process's copy of the mark when the process decides on an event. */
export const copyLimitMs = 1_000;
const refreshMs = 250;
const staleMs = 500;

export interface MarkCopy {
  /** Unix ms. */
  mark: number;
  /** When the query was sent, by the monotonic clock, which stops while the host sleeps, and by the wall clock. */
  askedAt: number;
  askedAtWall: number;
  /** The primary that was read, which may no longer be the primary after a failover. */
  server: object;
}

let copy: MarkCopy | undefined;
let refreshing: Promise<MarkCopy> | undefined;

/** The time of a query for the mark, and the primary that it asks. */
export const asking = () => ({ askedAt: performance.now(), askedAtWall: Date.now(), server: presentServer() });

/** The age of a copy in ms; Infinity if it was read from a server other than the current one. */
export function ageOf({ askedAt, askedAtWall, server }: MarkCopy): number {
  if (server !== presentServer()) return Number.POSITIVE_INFINITY;
  return Math.max(performance.now() - askedAt, Date.now() - askedAtWall);
}

/** A copy of the mark; an aging one is refreshed in the background. Rejects if a read is needed and fails. */
export async function feedMark(): Promise<MarkCopy> {
  const age = copy ? ageOf(copy) : Number.POSITIVE_INFINITY;
  if (copy && age < staleMs) {
    if (age > refreshMs) refresh().catch(() => {});
    return copy;
  }
  return refresh();
}

function refresh(): Promise<MarkCopy> {
  refreshing ??= readMark().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function readMark(): Promise<MarkCopy> {
  const asked = asking();
  const found = await marks.findOne({ _id: markId }, { ...timeLimit(), projection: { mark: 1 } });
  return keepCopy({ mark: found?.mark.getTime() ?? 0, ...asked });
}

/** Replaces this process's copy by one that was just read. */
export function keepCopy(read: MarkCopy): MarkCopy {
  copy = read;
  return read;
}
