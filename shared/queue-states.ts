import type { Queue } from 'bullmq';
import type { Context } from './context.ts';
import { committedReads } from './mongo/durability.ts';
import { type PoolName, poolNames } from './queues.ts';
import { rides } from './rides/ride.ts';
import type { Ride } from './rides/ride-types.ts';

/** A queue as Redis has it. */
export interface QueueState {
  pool: PoolName;
  paused: boolean;
  /** Jobs that are due. */
  waiting: number;
  active: number;
  /** Jobs that are not due yet. */
  delayed: number;
}

/** What is late, as MongoDB has it, whatever became of Redis: for how many seconds, 0 where nothing is. */
export interface Backlog {
  oldestUnsettledSeconds: number;
  oldestOverdueSeconds: number;
}

/** The state of every queue. Throws when Redis is away. */
export function queueStates({ queues }: Pick<Context, 'queues'>): Promise<QueueState[]> {
  return Promise.all(
    poolNames.map(async (pool) => {
      const queue = queues[pool] as Queue;
      const [counts, paused] = await Promise.all([queue.getJobCounts('wait', 'active', 'delayed'), queue.isPaused()]);
      return { pool, paused, waiting: counts.wait ?? 0, active: counts.active ?? 0, delayed: counts.delayed ?? 0 };
    }),
  );
}

/** How late the oldest event that is to be sent and the oldest timer are. */
export async function backlog(nowMs: number): Promise<Backlog> {
  const options = { ...committedReads(), projection: { unsettledSince: 1, nextDueAt: 1 } };
  const [unsettled, due] = await Promise.all([
    rides.findOne<Pick<Ride, 'unsettledSince'>>(
      { unsettled: { $gt: 0 } },
      { ...options, sort: { unsettledSince: 1, _id: 1 } },
    ),
    rides.findOne<Pick<Ride, 'nextDueAt'>>(
      { nextDueAt: { $exists: true } },
      { ...options, sort: { nextDueAt: 1, _id: 1 } },
    ),
  ]);
  const late = (since?: Date) => (since ? Math.max(0, Math.round((nowMs - since.getTime()) / 1_000)) : 0);
  return {
    oldestUnsettledSeconds: late(unsettled?.unsettledSince),
    oldestOverdueSeconds: late(due?.nextDueAt),
  };
}
