import type { Queue } from 'bullmq';
import type { Context } from './context.ts';
import { keys } from './keys/api-key.ts';
import { committedReads, timeLimit } from './mongo/durability.ts';
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
  /** The keys whose events wait, by the 1,000 that have waited longest: a slow or dead receiver stands in front. */
  waitingByKey: WaitingKey[];
}

export interface WaitingKey {
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

/** How late the oldest event that is to be sent and the oldest timer are, and whose events wait. */
export async function backlog(nowMs: number): Promise<Backlog> {
  const options = { ...committedReads(), projection: { unsettledSince: 1, nextDueAt: 1 } };
  const [unsettled, due, waiting] = await Promise.all([
    rides.findOne<Pick<Ride, 'unsettledSince'>>(
      { unsettled: { $gt: 0 } },
      { ...options, sort: { unsettledSince: 1, _id: 1 } },
    ),
    rides.findOne<Pick<Ride, 'nextDueAt'>>(
      { nextDueAt: { $exists: true } },
      { ...options, sort: { nextDueAt: 1, _id: 1 } },
    ),
    waitingByKey(),
  ]);
  const late = (since?: Date) => (since ? Math.max(0, Math.round((nowMs - since.getTime()) / 1_000)) : 0);
  return {
    oldestUnsettledSeconds: late(unsettled?.unsettledSince),
    oldestOverdueSeconds: late(due?.nextDueAt),
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
