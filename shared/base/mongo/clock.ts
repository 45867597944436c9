import { database } from './connect-mongo.ts';

const refreshMs = 1_000;
const checkIntervalMs = 250;
/** A larger change between the host's two clocks means that its wall clock was set or that it slept. */
const stepMs = 50;
const samples = 3;
/** No further samples are taken after this time, so that a slow MongoDB does not delay the start. */
const samplingLimitMs = 1_000;
/** A replaced estimate is kept for this long. */
const historyMs = 60_000;

/** Reads MongoDB's clock, which every timer and deadline uses, because clocks of hosts may be wrong. */
export async function mongoNow(): Promise<Date> {
  const [clock] = await database()
    .aggregate<{ now: Date }>([{ $documents: [{}] }, { $set: { now: '$$NOW' } }])
    .toArray();
  return (clock as { now: Date }).now;
}

/** Well below 300 s: a receiver refuses a signature whose time differs from its clock by that much. */
const maxDifferenceMs = 60_000;

/** True if this host's clock differs by more than a minute from `mongoMs`, MongoDB's clock now (Unix ms). */
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
 * bidding. Reads MongoDB's clock every `everyMs`. Between the reads it follows the host's monotonic clock, which does
 * not jump when the wall clock is set. The monotonic clock stops while the host sleeps: if the host's two clocks
 * diverge, MongoDB's clock is read again. Rejects if MongoDB does not answer the first read.
 */
export async function followMongoClock(ask = mongoNow, everyMs = refreshMs): Promise<MongoClock> {
  let aheadMs: number | undefined;
  let wallAheadMs = wallAhead();
  let isAsking = false;
  /** Estimates that have been replaced, each with the time of its replacement (ms, monotonic). */
  let history: { aheadMs: number; until: number }[] = [];

  /**
   * MongoDB read its clock after the request was sent and before the answer arrived, which gives an upper and a lower
   * bound. The estimate changes only if it is outside these bounds, so a slow answer, which has wide bounds, changes
   * little.
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
  }, checkIntervalMs).unref();
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
