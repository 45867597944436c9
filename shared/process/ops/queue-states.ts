import type { Queue } from 'bullmq';
import type { Context } from '../../base/context.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { type PoolName, poolNames } from '../../base/queues.ts';
import { keys } from '../../keys/api-key.ts';
import { rides } from '../../rides/ride.ts';
import { readBacklog } from './backlog.ts';

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
  /** Of the timers. */
  oldestOverdueSeconds: number;
  /** Of the attempts asked for by hand. */
  oldestAttemptSeconds: number;
  oldestMailSeconds: number;
  /** The keys whose events wait, by the 1,000 that have waited longest: a slow or dead receiver stands in front. */
  waitingByKey: WaitingKey[];
}

interface WaitingKey {
  keyId: string;
  name?: string;
  /** How many rides of the key have events that wait, of the 1,000 oldest. */
  rides: number;
  /** How many deliveries have failed in a row, and why the last one did. */
  failuresInRow?: number;
  reason?: string;
}

const oldestRides = 1_000;
const mostKeys = 10;

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

/** How late the oldest of each kind is, and whose events wait. */
export async function backlog(): Promise<Backlog> {
  const [oldest, waiting] = await Promise.all([readBacklog(), waitingByKey()]);
  return {
    oldestUnsettledSeconds: Math.round(oldest.unsettledEvent),
    oldestOverdueSeconds: Math.round(oldest.overdueTimer),
    oldestAttemptSeconds: Math.round(oldest.overdueAttempt),
    oldestMailSeconds: Math.round(oldest.overdueMail),
    waitingByKey: waiting,
  };
}

async function waitingByKey(): Promise<WaitingKey[]> {
  const order = { unsettledSince: 1, _id: 1 } as const;
  const groups = await rides
    .aggregate<{ _id: string; rides: number }>(
      [
        { $match: { unsettled: { $gt: 0 } } },
        { $sort: order },
        { $limit: oldestRides },
        { $group: { _id: '$keyId', rides: { $sum: 1 } } },
        { $sort: { rides: -1, _id: 1 } },
        { $limit: mostKeys },
      ],
      { hint: order, ...timeLimit() },
    )
    .toArray();
  const ids = groups.map(({ _id }) => _id);
  const found = await keys
    .find({ _id: { $in: ids } }, { projection: { name: 1, failing: 1 }, batchSize: mostKeys + 1, ...timeLimit() })
    .toArray();
  return groups.map(({ _id: keyId, rides }) => {
    const { name, failing } = found.find((key) => key._id === keyId) ?? {};
    return { keyId, name, rides, ...(failing && { failuresInRow: failing.inRow, reason: failing.reason }) };
  });
}
