import { presentServer } from '../../base/mongo/connect-mongo.ts';
import { durableWrites, timeLimit } from '../../base/mongo/durability.ts';
import { asking, keepCopy, markId, marks, type StoredMark } from './feed-mark.ts';
import { showingMarks } from './showing-marks.ts';

/** The mark stays this far behind MongoDB's clock: so feed times are the events' times, unless it was set back. */
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
  const stored = await marks.findOneAndUpdate({ _id: markId }, [{ $set: raised }], options);
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
  await marks.updateOne({ _id: markId }, [{ $set: first }], { upsert: true });
}

export interface FeedMark {
  /** For requests that read the feed. Resolves with the highest feed time shown (Unix ms), once it is known. */
  shownUntil(): Promise<number>;
  /** Like `shownUntil`, without waiting; 0 while it is unknown. */
  shown(): number;
  /** Resolves when every event written before this call is shown; never resolves after `close`. */
  written(): Promise<void>;
  /** Raises the mark to an event's feed time, which it may not reach soon if MongoDB's clock was ahead. */
  reach(feedTime: number): void;
  close(): void;
}

const activeMs = 200;
const idleMs = 1_000;
/** The feed counts as idle this long after its last use. */
const idleAfterMs = 60_000;
/** The mark is not raised for a feed time at most this far ahead, because it follows the clock and soon gets there. */
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
    const isSameServer = asked.server === presentServer();
    lastMark = stored.mark.getTime();
    if (isSameServer) keepCopy({ mark: lastMark, ...asked });
    showing.note({
      mark: lastMark,
      shown: stored.shown.getTime(),
      clock: stored.now.getTime(),
      askedAt: asked.askedAt,
      answeredAt: performance.now(),
      server: isSameServer ? asked.server : null,
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
