import { collection } from '../../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../../base/mongo/durability.ts';
import { FenceModel, topologyChanges } from '../../base/mongo/durable-read.ts';
import { showingMarks } from './showing-marks.ts';

/**
 * The mark of the event feed: a position in MongoDB, which only grows. The positions up to it may be shown 3 s after it
 * was stored (showing-marks.ts), so an event that is written later must have a higher one. A writer therefore has a
 * copy of the mark that is at most `copyLimitMs` old when it decides (write-change.ts).
 *
 * The mark follows MongoDB's clock. While that clock is behind the mark, because it was set back, the mark grows at
 * half the clock's speed, until the clock has caught up.
 */
interface StoredMark {
  _id: 'feed';
  mark: Date;
  /** Some process has waited for it: positions up to here are shown. */
  shown: Date;
  /** MongoDB's clock at the last change. */
  now: Date;
}

const marks = collection<StoredMark>(FenceModel);
const _id = 'feed';

/**
 * An event's position is its time unless the clock went back: the mark stays behind the clock of what is being read.
 */
const behindClockMs = 50;
const mostGrowthMs = 1_000;
const growth = {
  $divide: [{ $min: [mostGrowthMs, { $max: [0, { $subtract: ['$$NOW', '$now'] }] }] }, 2],
};
const followed = { $subtract: ['$$NOW', behindClockMs] };

/** Raises the mark, and what is shown, for all processes. Durable. Any value is safe: writers go by what they read. */
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

/** Stores the first mark. Events of the version before it are complete up to 3 s ago, as that version guarantees. */
export async function startFeedMark(): Promise<void> {
  const first = {
    mark: { $ifNull: ['$mark', followed] },
    shown: { $ifNull: ['$shown', { $subtract: ['$$NOW', 3_000] }] },
    now: { $ifNull: ['$now', '$$NOW'] },
  };
  await marks.updateOne({ _id }, [{ $set: first }], { upsert: true });
}

/** The greatest age of a copy of the mark when an event is decided on. */
export const copyLimitMs = 1_000;
const refreshMs = 250;
const staleMs = 500;

export interface MarkCopy {
  /** Unix ms. */
  mark: number;
  /**
   * The time of the query, on this process's monotonic and wall clocks: the monotonic one stops while the host sleeps.
   */
  askedAt: number;
  askedAtWall: number;
  /** The server that it was read from: after a failover that server may no longer be the primary. */
  server: { changes: object; count: number };
}

let copy: MarkCopy | undefined;
let refreshing: Promise<MarkCopy> | undefined;

const serverNow = () => {
  const changes = topologyChanges();
  return { changes, count: changes.count };
};
const asking = () => ({ askedAt: performance.now(), askedAtWall: Date.now(), server: serverNow() });

/** The age of a copy, in ms; Infinity when it is of another server than the present one. */
export function ageOf({ askedAt, askedAtWall, server }: MarkCopy): number {
  const { changes, count } = serverNow();
  if (changes !== server.changes || count !== server.count) return Number.POSITIVE_INFINITY;
  return Math.max(performance.now() - askedAt, Date.now() - askedAtWall);
}

/**
 * A copy of the mark, mostly without a round trip: a process that changes rides reads it again in the background.
 * Rejects when it must be read and MongoDB is away.
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
   * For a request that reads the feed: the highest position that is shown (Unix ms), as soon as this process knows it.
   */
  shownUntil(): Promise<number>;
  /** The same, at once; 0 while it is unknown. */
  shown(): number;
  /** Resolves when all that is written before this call is shown; never after `close`. */
  written(): Promise<void>;
  /** An event has this position: the mark must reach it, also when MongoDB's clock was ahead for a moment only. */
  reach(position: number): void;
  close(): void;
}

const activeMs = 200;
const idleMs = 1_000;
/** After the last use. */
const idleAfterMs = 60_000;
/** A position that the mark is about to reach anyway. */
const soonMs = 2_000;

/** Raises the mark as long as this process shows the feed: 5 times a second while it is read, else once. */
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
    // The next run tries again: until then nothing more is shown.
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
    reach(position) {
      if (position > lastMark + soonMs) wanted = Math.max(wanted, position);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
