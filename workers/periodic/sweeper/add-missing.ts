import type { Queue } from 'bullmq';
import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import type { PoolName } from '../../../shared/base/queues.ts';
import { isCluster } from '../../../shared/base/redis/redis-nodes.ts';
import { findJobs, type JobState } from './find-jobs.ts';

/** A job that a ride needs. */
export interface NeededJob {
  /** The queues that may hold the job. */
  pools: readonly PoolName[];
  /** The dedupe id of the job in each of these queues. */
  id: string;
  /** Unix ms. */
  dueAt: number;
  /** Never throws. Resolves with true if Redis accepted the job. */
  add(options: { evenIfActive: boolean }): Promise<boolean>;
}

/** A delayed job is added again if its due time in Redis is later than the needed one by more than this. */
const toleranceMs = 1_000;

/**
 * Adds those of the given jobs that no queue really holds, in their order. With `distrustActive`, also adds a due job
 * that is marked as active, because its worker may never have received it. Resolves with the numbers of jobs that Redis
 * accepted and did not accept. In a Redis Cluster, an unavailable node affects only its own queues: their jobs count as
 * not accepted.
 */
export async function addMissing(
  ctx: Context,
  needed: readonly NeededJob[],
  { nowMs, distrustActive }: { nowMs: number; distrustActive: boolean },
): Promise<{ added: number; failed: number }> {
  const states = await statesOf(ctx, needed, nowMs);
  const accepted = await Promise.all(
    needed.flatMap((job, index) => {
      const isDistrusted = distrustActive && states[index] === 'active' && job.dueAt <= nowMs;
      if (states[index] === 'unknown') return false;
      return states[index] === 'missing' || isDistrusted ? job.add({ evenIfActive: isDistrusted }) : [];
    }),
  );
  const added = accepted.filter(Boolean).length;
  return { added, failed: accepted.length - added };
}

async function statesOf(ctx: Context, needed: readonly NeededJob[], nowMs: number): Promise<(JobState | 'unknown')[]> {
  const pools = [...new Set(needed.flatMap((job) => job.pools))];
  const ofEachPool = new Map(
    await Promise.all(pools.map(async (pool) => [pool, await statesIn(ctx, pool, needed, nowMs)] as const)),
  );
  return needed.map((job) => {
    const states = job.pools.map((pool) => {
      const inPool = ofEachPool.get(pool);
      return inPool ? inPool.get(job.id) : 'unknown';
    });
    if (states.includes('waiting')) return 'waiting';
    if (states.includes('active')) return 'active';
    // A delivery's job may be in either of two queues. If only one of them can be read, its state decides, because a
    // second job is harmless.
    return states.every((state) => state === 'unknown') ? 'unknown' : 'missing';
  });
}

/**
 * The job states in one queue, or null while its node is unavailable. Each queue is read separately, because in a Redis
 * Cluster each queue has its own hash slot.
 */
async function statesIn(
  ctx: Context,
  pool: PoolName,
  needed: readonly NeededJob[],
  nowMs: number,
): Promise<Map<string, JobState | undefined> | null> {
  const wanted = needed
    .filter(({ pools }) => pools.includes(pool))
    .map(({ id, dueAt }) => ({ id, latestAt: Math.max(dueAt, nowMs) + toleranceMs }));
  try {
    const states = await findJobs(ctx.redis, ctx.queues[pool] as Queue, wanted);
    return new Map(wanted.map(({ id }, index) => [id, states[index]]));
  } catch (error) {
    if (!isCluster(ctx.redis)) throw error;
    ctx.log.debug({ pool, error: describeError(error) }, 'queue cannot be read');
    return null;
  }
}
