import { database } from './connection.ts';

const refreshMs = 1_000;
const watchMs = 250;
/** A larger change between the host's two clocks means that its wall clock was set or that it slept. */
const stepMs = 50;
const samples = 3;
/** When MongoDB is slow, one sample is enough, so it does not delay the start. */
const samplingLimitMs = 1_000;
/** Time for which earlier estimates are kept. */
const historyMs = 60_000;

/**
 * Reads MongoDB's clock. Every timer and deadline uses it, because the clocks of the workers' hosts may be wrong.
 */
export async function mongoNow(): Promise<Date> {
  const [clock] = await database()
    .aggregate<{ now: Date }>([{ $documents: [{}] }, { $set: { now: '$$NOW' } }])
    .toArray();
  return (clock as { now: Date }).now;
}

/** Well below 300 s: receivers reject a signature whose time differs by more from their clock. */
const maxDifferenceMs = 60_000;

/**
 * Whether this host's clock and `mongoMs`, just read from MongoDB's clock (Unix ms), differ by more than a minute.
 */
export const clocksDiffer = (mongoMs: number): boolean => Math.abs(mongoMs - Date.now()) > maxDifferenceMs;

export interface MongoClock {
  /** The time on MongoDB's clock, in whole Unix ms. */
  now(): number;
  /**
   * Like `now()`, but without the forward steps that this process has seen in the last `withinMs` (at most a minute).
   * Never later than `now()`.
   */
  nowBeforeSteps(withinMs: number): number;
  stop(): void;
}

/**
 * Follows MongoDB's clock, so that a ride created on a host whose clock is an hour off still gets its ten minutes of
 * bidding. It reads MongoDB's clock every `everyMs`; between the reads it follows the host's monotonic clock, which
 * does not jump when the wall clock is set. The monotonic clock stops while the host sleeps, so when the host's two
 * clocks diverge, MongoDB's clock is read again. Rejects when MongoDB does not answer the first read.
 */
export async function followMongoClock(ask = mongoNow, everyMs = refreshMs): Promise<MongoClock> {
  let aheadMs: number | undefined;
  let wallAheadMs = wallAhead();
  let isAsking = false;
  /** Earlier estimates, and when each was replaced (ms, monotonic). */
  let history: { aheadMs: number; until: number }[] = [];

  /**
   * MongoDB read its clock between the request and the answer, which gives a lower and an upper bound. The estimate
   * changes only when it is outside these bounds, so a slow answer, which has wide bounds, changes little.
   */
  async function correct(): Promise<void> {
    const askedAt = performance.now();
    const theirs = (await ask()).getTime();
    const [least, most] = [theirs - performance.now(), theirs + 1 - askedAt];
    const until = performance.now();
    history = history.filter((earlier) => until - earlier.until < historyMs);
    if (aheadMs !== undefined) history.push({ aheadMs, until });
    aheadMs = Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2));
  }

  async function correctWithSamples(): Promise<void> {
    const startedAt = performance.now();
    const wallAheadBefore = wallAhead();
    for (let taken = 0; taken < samples; taken++) {
      if (taken > 0 && performance.now() - startedAt > samplingLimitMs) break;
      await correct();
    }
    wallAheadMs = wallAheadBefore;
  }

  async function tryTo(askAgain: () => Promise<void>): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    await askAgain().catch(() => {});
    isAsking = false;
  }

  await correctWithSamples();
  const refresh = setInterval(() => void tryTo(correct), everyMs).unref();
  const watch = setInterval(() => {
    if (Math.abs(wallAhead() - wallAheadMs) > stepMs) void tryTo(correctWithSamples);
  }, watchMs).unref();
  return {
    now: () => Math.floor(performance.now() + (aheadMs as number)),
    nowBeforeSteps(withinMs) {
      const now = performance.now();
      const recent = history.filter(({ until }) => now - until < withinMs);
      return Math.floor(now + Math.min(aheadMs as number, ...recent.map((earlier) => earlier.aheadMs)));
    },
    stop() {
      clearInterval(refresh);
      clearInterval(watch);
    },
  };
}

/** The difference between the host's wall clock and its monotonic clock (ms). */
const wallAhead = (): number => Date.now() - performance.now();
