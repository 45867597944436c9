import type { Queue } from 'bullmq';
import type { Context } from '../../shared/context.ts';
import type { PoolName } from '../../shared/queues.ts';
import { findJobs, type JobState } from './find-jobs.ts';

/** A job that a ride needs. */
export interface NeededJob {
  /** The queues that may hold it. */
  pools: readonly PoolName[];
  /** Its dedupe id, in each of them. */
  id: string;
  /** Unix ms. */
  dueAt: number;
  /** Never throws. Resolves with whether Redis took the job. */
  add(options: { evenIfActive: boolean }): Promise<boolean>;
}

/** A delayed job that is due later than needed by more than this is added again. */
const toleranceMs = 1_000;

/**
 * Adds the jobs that no queue really holds, in this order. With `distrustActive`, a due job is also added beside an active
 * one, whose worker may never have received it. Resolves with how many jobs Redis took and how many it did not.
 */
export async function addMissing(
  ctx: Context,
  needed: readonly NeededJob[],
  { nowMs, distrustActive }: { nowMs: number; distrustActive: boolean },
): Promise<{ added: number; failed: number }> {
  const states = await statesOf(ctx, needed, nowMs);
  const taken = await Promise.all(
    needed.flatMap((job, index) => {
      const isDistrusted = distrustActive && states[index] === 'active' && job.dueAt <= nowMs;
      return states[index] === 'missing' || isDistrusted ? job.add({ evenIfActive: isDistrusted }) : [];
    }),
  );
  const added = taken.filter(Boolean).length;
  return { added, failed: taken.length - added };
}

async function statesOf(ctx: Context, needed: readonly NeededJob[], nowMs: number): Promise<JobState[]> {
  const pools = [...new Set(needed.flatMap((job) => job.pools))];
  const ofEachPool = await Promise.all(pools.map((pool) => statesIn(ctx, pool, needed, nowMs)));
  return needed.map(({ id }) => {
    const states = ofEachPool.map((found) => found.get(id));
    if (states.includes('waiting')) return 'waiting';
    return states.includes('active') ? 'active' : 'missing';
  });
}

/** One query per queue: in a Redis Cluster each queue has a slot of its own. */
async function statesIn(ctx: Context, pool: PoolName, needed: readonly NeededJob[], nowMs: number) {
  const wanted = needed
    .filter(({ pools }) => pools.includes(pool))
    .map(({ id, dueAt }) => ({ id, latestAt: Math.max(dueAt, nowMs) + toleranceMs }));
  const states = await findJobs(ctx.redis, ctx.queues[pool] as Queue, wanted);
  return new Map(wanted.map(({ id }, index) => [id, states[index]]));
}
