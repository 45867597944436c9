import type { Context } from '../../../shared/base/context.ts';
import { sweepResultKey, sweptAtKey } from '../../../shared/process/ops/full-sweep.ts';
import type { Lease } from '../lease.ts';
import { takeTurn } from '../turns.ts';
import { sweep } from './sweep.ts';
import {
  atFront,
  isComplete,
  nextRound,
  progressKey,
  readProgress,
  type StoredProgress,
  storeProgress,
} from './sweeper-progress.ts';

/** The sweeper's Redis keys share a hash tag, so that one command can read them in a Redis Cluster. */
export const sweeperLeaseKey = '{rides:sweeper}:lease';

interface SweepTurn {
  /** The current time. All times here are Unix ms by Redis's clock. */
  now: number;
  /** Jobs may have been lost until this time. A full sweep that started earlier may have missed them. */
  lastLossAt: number;
  /**
   * When Redis last became available again, perhaps without its data. A full sweep that started before this time starts
   * again.
   */
  redisReturnedAt: number;
  /** The time between two sweeps, whichever processes do them. */
  intervalMs: number;
  /** The time between two sweeps while a full sweep is unfinished. */
  soonMs: number;
  signal: AbortSignal;
}

/**
 * Sweeps if this process can acquire the lease. One process sweeps in each interval. After an outage of Redis, the next
 * sweep does not wait for the end of the interval. Resolves with true while a full sweep is unfinished.
 */
export async function takeSweepTurn(ctx: Context, turn: SweepTurn): Promise<boolean> {
  const [swept = null, progressText = null] = await ctx.redis.mget(sweptAtKey, progressKey);
  const sweptAt = Number(swept ?? Number.NEGATIVE_INFINITY);
  const stored = readProgress(progressText);
  const everything = !(sweptAt >= turn.lastLossAt);
  const hasBegun = Math.max(sweptAt, stored.everythingSince ?? 0) >= turn.redisReturnedAt;
  let isUnfinished = everything;
  const restMs = () => (isUnfinished ? turn.soonMs : turn.intervalMs);
  const lease = { key: sweeperLeaseKey, interruptRest: !hasBegun, restAfterErrorMs: restMs() };
  await takeTurn(ctx.redis, lease, async (held) => {
    const progress = everything ? fullProgress(stored, turn) : ordinaryProgress(stored);
    const isDone = await continueSweep(ctx, held, progress, turn.signal);
    isUnfinished = everything && !(isDone && (progress.everythingSince ?? 0) >= turn.lastLossAt);
    return restMs();
  });
  return isUnfinished;
}

/**
 * The progress with which to continue an interrupted full sweep where it stopped, so that it completes even if it often
 * fails.
 */
function fullProgress(stored: StoredProgress, { now, redisReturnedAt }: SweepTurn): StoredProgress {
  const continues = stored.everythingSince !== null && stored.everythingSince >= redisReturnedAt;
  return continues ? stored : { ...atFront(), everythingSince: now };
}

const ordinaryProgress = (stored: StoredProgress): StoredProgress =>
  nextRound(stored.everythingSince === null ? stored : atFront());

/** Resolves with true if all walks reached the end. */
async function continueSweep(
  ctx: Context,
  lease: Lease,
  progress: StoredProgress,
  signal: AbortSignal,
): Promise<boolean> {
  const everything = progress.everythingSince !== null;
  const mayContinue = async () => !signal.aborted && (await lease.keep());
  try {
    const swept = await sweep(ctx, { everything, progress, mayContinue });
    const { timers, deliveries, attempts, mails, messages, stalls, drivers, failed } = swept;
    const found = timers + deliveries + attempts + mails + messages + stalls + drivers + failed;
    if (found > 0) ctx.log.info({ everything, ...swept }, 'sweep');
    // Records the sweep only if this process still holds the lease, because Redis may have been flushed.
    if (!isComplete(progress) || !(await lease.keep())) return false;
    if (everything)
      await ctx.redis.mset(sweepResultKey, JSON.stringify(swept), sweptAtKey, progress.everythingSince ?? 0);
    return true;
  } finally {
    if (await lease.isMine()) await storeProgress(ctx.redis, progress);
  }
}
