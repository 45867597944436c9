import mongoose from 'mongoose';
import { collection, recordSchema } from '../../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../../base/mongo/durability.ts';
import { FenceModel, topologyChanges } from '../../base/mongo/durable-read.ts';
import { showingMarks } from './showing-marks.ts';

/**
 * The mark of the event feed: a feed time, stored in MongoDB, that only grows. Events with feed times up to the mark
 * may be shown 3 s after it was stored (showing-marks.ts), so an event that is written later must have a higher feed
 * time. Therefore a writer's copy of the mark is at most `copyLimitMs` old when it decides (write-change.ts).
 *
 * The mark follows MongoDB's clock. If that clock was set back, the mark grows at half the clock's speed until the
 * clock has caught up.
 */
interface StoredMark {
  _id: 'feed';
  mark: Date;
  /**
   * Events with feed times up to this one are shown: at least one process has waited 3 s after this mark was stored.
   */
  shown: Date;
  /** MongoDB's clock at the last change. */
  now: Date;
}

const markSchema = recordSchema();
/** In the collection of the fence, which a restored backup keeps: an older mark would let events be skipped. */
const FeedMarkModel = mongoose.model('FeedMark', markSchema, FenceModel.collection.name);
const marks = collection<StoredMark>(FeedMarkModel);
const _id = 'feed';

/**
 * The mark stays this far behind MongoDB's clock, so that an event's feed time equals its time unless the clock was set
 * back.
 */
const behindClockMs = 50;
const maxGrowthMs = 1_000;
const growth = {
  $divide: [{ $min: [maxGrowthMs, { $max: [0, { $subtract: ['$$NOW', '$now'] }] }] }, 2],
};
const followed = { $subtract: ['$$NOW', behindClockMs] };

/**
 * Raises `mark` and `shown` for all processes, with a durable write. The mark may take any value, because writers read
 * it first and choose a higher feed time for their events.
 */
async function storeMark(wanted: number, shown: number): Promise<StoredMark> {
  const raised = {
    mark: { $max: [followed, { $add: ['$mark', growth] }, new Date(wanted)] },
    shown: { $max: ['$shown', new Date(shown)] },
    now: '$$NOW',
  };
  const options = { upsert: true, returnDocument: 'after', writeConcern: durableWrites(), ...timeLimit() } as const;
  const stored = await marks.findOneAndUpdate({ _id }, [{ $set: raised }], options);
  if (!stored) throw new Error('the mark was not stored');
  return stored;
}

/** Stores the first mark. Up to 3 s ago, all events are shown, because no process runs yet that could add one. */
export async function startFeedMark(): Promise<void> {
  const first = {
    mark: { $ifNull: ['$mark', followed] },
    shown: { $ifNull: ['$shown', { $subtract: ['$$NOW', 3_000] }] },
    now: { $ifNull: ['$now', '$$NOW'] },
  };
  await marks.updateOne({ _id }, [{ $set: first }], { upsert: true });
}

/** The maximum age of a process's copy of the mark when the process decides on an event. */
export const copyLimitMs = 1_000;
const refreshMs = 250;
const staleMs = 500;

export interface MarkCopy {
  /** Unix ms. */
  mark: number;
  /**
   * When the query was sent, by this process's monotonic and wall clocks. The wall clock is needed too, because the
   * monotonic clock stops while the host sleeps.
   */
  askedAt: number;
  askedAtWall: number;
  /** Identifies the primary that was read, which may no longer be the primary after a failover. */
  server: { changes: object; count: number };
}

let copy: MarkCopy | undefined;
let refreshing: Promise<MarkCopy> | undefined;

const serverNow = () => {
  const changes = topologyChanges();
  return { changes, count: changes.count };
};
const asking = () => ({ askedAt: performance.now(), askedAtWall: Date.now(), server: serverNow() });

/** The age of a copy in ms; Infinity if it was read from a server other than the current one. */
export function ageOf({ askedAt, askedAtWall, server }: MarkCopy): number {
  const { changes, count } = serverNow();
  if (changes !== server.changes || count !== server.count) return Number.POSITIVE_INFINITY;
  return Math.max(performance.now() - askedAt, Date.now() - askedAtWall);
}

/**
 * A copy of the mark, usually without a round trip, because an aging copy is refreshed in the background. Rejects if
 * the mark must be read and MongoDB is unavailable.
 */
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
  const found = await marks.findOne({ _id }, { ...timeLimit(), projection: { mark: 1 } });
  copy = { mark: found?.mark.getTime() ?? 0, ...asked };
  return copy;
}

export interface FeedMark {
  /**
   * For a request that reads the feed. Resolves with the highest feed time that is shown (Unix ms), as soon as this
   * process knows it.
   */
  shownUntil(): Promise<number>;
  /** Like `shownUntil`, without waiting; 0 while it is unknown. */
  shown(): number;
  /** Resolves when every event written before this call is shown; never resolves after `close`. */
  written(): Promise<void>;
  /**
   * Raises the mark to the feed time of an event. Without this, the mark may not reach that time soon if MongoDB's
   * clock was ahead for a moment.
   */
  reach(feedTime: number): void;
  close(): void;
}

const activeMs = 200;
const idleMs = 1_000;
/** The feed counts as idle this long after its last use. */
const idleAfterMs = 60_000;
/**
 * The mark is not raised for a feed time that is at most this far ahead, because it soon gets there by following the
 * clock.
 */
const soonMs = 2_000;

/** Raises the mark until `close`: 5 times a second while requests read the feed, else once a second. */
export function followFeedMark(): FeedMark {
  const showing = showingMarks();
  let wanted = 0;
  let lastMark = 0;
  let usedAt = performance.now();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let isRaising = false;
  let isReady = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let waiting: { from: number; resolve: () => void }[] = [];

  async function raise(): Promise<void> {
    const asked = asking();
    const stored = await storeMark(wanted, showing.shown());
    const { changes, count } = serverNow();
    const isSameServer = changes === asked.server.changes && count === asked.server.count;
    lastMark = stored.mark.getTime();
    if (isSameServer) copy = { mark: lastMark, ...asked };
    showing.note({
      mark: lastMark,
      shown: stored.shown.getTime(),
      clock: stored.now.getTime(),
      askedAt: asked.askedAt,
      answeredAt: performance.now(),
      server: isSameServer ? count : -1,
    });
    isReady();
    const shownFrom = showing.shownFrom();
    for (const { from, resolve } of waiting) if (from <= shownFrom) resolve();
    waiting = waiting.filter(({ from }) => from > shownFrom);
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    if (isRaising) return;
    isRaising = true;
    // If this fails, no further event is shown until a later call succeeds.
    await raise().catch(() => {});
    isRaising = false;
    if (isClosed) return;
    timer = setTimeout(run, performance.now() - usedAt < idleAfterMs ? activeMs : idleMs).unref();
  }

  function use(): void {
    const wasIdle = performance.now() - usedAt >= idleAfterMs;
    usedAt = performance.now();
    if (wasIdle) void run();
  }

  void run();
  return {
    async shownUntil() {
      use();
      await ready;
      return showing.shown();
    },
    shown: showing.shown,
    written: () => {
      const from = performance.now();
      return new Promise((resolve) => {
        waiting.push({ from, resolve });
      });
    },
    reach(feedTime) {
      if (feedTime > lastMark + soonMs) wanted = Math.max(wanted, feedTime);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
