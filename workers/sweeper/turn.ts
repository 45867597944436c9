import type { Context } from '../../shared/context.ts';
import { type Lease, takeLease } from './lease.ts';
import { isComplete, nextRound, progressKey, readProgress, type StoredProgress, storeProgress } from './progress.ts';
import { atFront, sweep } from './sweep.ts';

/**
 * When, by Redis's clock, the last sweep of everything began. It has no expiry: where it is missing, Redis has lost its
 * data, and every job with it.
 */
export const sweptKey = '{rides:sweeper}:swept';

export interface Turn {
  /** The present time (Unix ms), like those below by Redis's clock. */
  now: number;
  /** A sweep of everything that began before this is not enough for this process. */
  owedSince: number;
  /** Redis came back at this time, perhaps without its data: what was looked at before is looked at again. */
  redisReturnedAt: number;
  /** Between two sweeps of all processes. */
  intervalMs: number;
  /** The same where everything is still owed. */
  soonMs: number;
  signal: AbortSignal;
}

/** `owed`: everything is still to be swept. `refused`: another process sweeps, or has done so within the interval. */
export type TurnResult = 'swept' | 'owed' | 'refused';

/** Sweeps, if it is this process's turn: once in each interval of all processes, and at once where Redis came back. */
export async function takeTurn(ctx: Context, turn: Turn): Promise<TurnResult> {
  const [swept = null, progressText = null] = await ctx.redis.mget(sweptKey, progressKey);
  const sweptAt = Number(swept ?? Number.NEGATIVE_INFINITY);
  const stored = readProgress(progressText);
  const everything = !(sweptAt >= turn.owedSince);
  const hasBegun = Math.max(sweptAt, stored.everythingSince ?? 0) >= turn.redisReturnedAt;
  const lease = await takeLease(ctx.redis, { interruptRest: !hasBegun });
  if (!lease) return everything ? 'owed' : 'refused';
  let isOwed = everything;
  try {
    const progress = everything ? progressOfAll(stored, turn) : ordinaryProgress(stored);
    const isDone = await sweepOn(ctx, lease, progress, turn.signal);
    isOwed = everything && !(isDone && (progress.everythingSince ?? 0) >= turn.owedSince);
  } finally {
    await lease.rest(isOwed ? turn.soonMs : turn.intervalMs);
  }
  return isOwed ? 'owed' : 'swept';
}

/** Goes on with a sweep of everything that was cut short, so that one that often fails comes to its end all the same. */
function progressOfAll(stored: StoredProgress, { now, redisReturnedAt }: Turn): StoredProgress {
  const goesOn = stored.everythingSince !== null && stored.everythingSince >= redisReturnedAt;
  return goesOn ? stored : { ...atFront(), everythingSince: now };
}

const ordinaryProgress = (stored: StoredProgress): StoredProgress =>
  nextRound(stored.everythingSince === null ? stored : atFront());

/** Answers whether both walks came to their ends. */
async function sweepOn(ctx: Context, lease: Lease, progress: StoredProgress, signal: AbortSignal): Promise<boolean> {
  const everything = progress.everythingSince !== null;
  const mayGoOn = async () => !signal.aborted && (await lease.keep());
  try {
    const swept = await sweep(ctx, { everything, progress, mayGoOn });
    const { timers, deliveries, stalls, failed } = swept;
    if (timers + deliveries + stalls + failed > 0) ctx.log.info({ everything, ...swept }, 'sweep');
    // Only with the lease: without it Redis may have been emptied meanwhile, and everything be owed again.
    if (!isComplete(progress) || !(await lease.keep())) return false;
    if (everything) await ctx.redis.set(sweptKey, progress.everythingSince ?? 0);
    return true;
  } finally {
    if (await lease.isMine()) await storeProgress(ctx.redis, progress);
  }
}
