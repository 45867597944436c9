import { mongoNow } from './mongo.ts';

const refreshMs = 60_000;

/**
 * Follows MongoDB's clock, which judges every timer: a ride made by a host whose own clock is an hour off still has its
 * ten minutes. Asks at the start and once a minute, so that a creation need not.
 */
export async function followMongoClock(): Promise<{ now(): number; stop(): void }> {
  let aheadMs = await offset();
  const refresh = setInterval(async () => {
    aheadMs = await offset().catch(() => aheadMs);
  }, refreshMs);
  refresh.unref();
  return { now: () => Date.now() + aheadMs, stop: () => clearInterval(refresh) };
}

/** How far MongoDB's clock is ahead of this host's, to about half a round trip. */
async function offset(): Promise<number> {
  const before = Date.now();
  const theirs = (await mongoNow()).getTime();
  return Math.round(theirs - (before + Date.now()) / 2);
}
