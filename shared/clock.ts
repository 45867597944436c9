import { mongoNow } from './mongo/connection.ts';

const refreshMs = 10_000;
const watchMs = 250;
/** The host's clocks differ by more than this only after a step of the wall clock or a sleep. */
const stepMs = 50;
const samples = 3;
/** A slow MongoDB must not hold up the start: after this time one sample is enough. */
const samplingMs = 1_000;

export interface MongoClock {
  /** The time on MongoDB's clock, in whole Unix ms. */
  now(): number;
  stop(): void;
}

/**
 * Follows MongoDB's clock, which judges every timer: a ride made by a host whose own clock is an hour off still has its
 * ten minutes. It runs on the host's monotonic clock, which a step of the wall clock does not move, and asks MongoDB every
 * `everyMs`. The monotonic clock stands still while the host sleeps: when the two clocks part, it asks at once. Rejects
 * where MongoDB does not answer the first time.
 */
export async function followMongoClock(ask = mongoNow, everyMs = refreshMs): Promise<MongoClock> {
  let aheadMs: number | undefined;
  let wallAheadMs = wallAhead();
  let isAsking = false;

  /**
   * The answer was made between asking and receiving, so it proves bounds. What is known moves only as far as they prove
   * it wrong: a slow answer proves little and does no harm.
   */
  async function correct(): Promise<void> {
    const askedAt = performance.now();
    const theirs = (await ask()).getTime();
    const [least, most] = [theirs - performance.now(), theirs + 1 - askedAt];
    aheadMs = Math.min(most, Math.max(least, aheadMs ?? (least + most) / 2));
  }

  async function correctWell(): Promise<void> {
    const startedAt = performance.now();
    const wallAheadBefore = wallAhead();
    for (let taken = 0; taken < samples; taken++) {
      if (taken > 0 && performance.now() - startedAt > samplingMs) break;
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

  await correctWell();
  const refresh = setInterval(() => void tryTo(correct), everyMs).unref();
  const watch = setInterval(() => {
    if (Math.abs(wallAhead() - wallAheadMs) > stepMs) void tryTo(correctWell);
  }, watchMs).unref();
  return {
    now: () => Math.floor(performance.now() + (aheadMs as number)),
    stop() {
      clearInterval(refresh);
      clearInterval(watch);
    },
  };
}

/** How far the host's wall clock is ahead of its monotonic one. */
const wallAhead = (): number => Date.now() - performance.now();
