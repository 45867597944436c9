import { once } from 'node:events';
import type { Queue } from 'bullmq';
import type { Context } from '../../base/context.ts';
import { findAmong } from '../../base/mongo/collection.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { type PoolName, poolNames } from '../../base/queues.ts';
import { redisReady } from '../../base/redis/redis.ts';
import { type RedisState, readRedisState } from '../../base/redis/redis-state.ts';
import { keys } from '../../keys/api-key.ts';
import { rides } from '../../rides/ride.ts';
import { type BacklogCounts, countBacklog, readBacklog } from './backlog.ts';
import { sharedRead } from './shared-read.ts';

/** The state of a queue in Redis. */
export interface QueueState {
  pool: PoolName;
  paused: boolean;
  /** Jobs that are due. */
  waiting: number;
  active: number;
  /** Jobs that are not due yet. */
  delayed: number;
  /** The names of the pool's processes (`host:pid`), or null if Redis does not list its connections. */
  processes: string[] | null;
}

/** Overdue work, from MongoDB, so a loss of Redis has no effect. In seconds, 0 if nothing is overdue. */
export interface BacklogReport {
  oldestUnsettledSeconds: number;
  /** The delay of the oldest overdue timer. */
  oldestOverdueSeconds: number;
  /** The delay of the oldest overdue test event or redelivery. */
  oldestAttemptSeconds: number;
  oldestMailSeconds: number;
  oldestMessageSeconds: number;
  /** The numbers of overdue items. */
  overdue: BacklogCounts;
  /** The keys of the 1,000 rides whose events have waited longest, most rides first: slow or dead receivers. */
  waitingByKey: WaitingKey[];
}

interface WaitingKey {
  keyId: string;
  name?: string;
  /** The number of these 1,000 rides that belong to the key. */
  rides: number;
  /** The number of consecutive failed deliveries, and the reason of the last one. */
  failuresInRow?: number;
  reason?: string;
}

const oldestRides = 1_000;
const maxListedKeys = 10;

/** The queues as far as Redis shows them, and the problem of Redis, if it has one. */
export interface QueuesReport {
  /** Null while Redis does not answer. */
  queues: QueueState[] | null;
  redis: RedisState['problem'] | null;
}

/** Operators wait at most this long for Redis, because MongoDB has the answers that matter during an outage. */
const redisLimitMs = 700;

/** Reads the state of every queue, also right after the connection was opened. Never rejects, and takes at most 700 ms. */
export async function readQueues(ctx: Pick<Context, 'queues' | 'redis'>): Promise<QueuesReport> {
  await readyOrClosed(ctx.redis);
  const once = { everyMs: Number.POSITIVE_INFINITY, limitMs: redisLimitMs / 2 };
  const [queues, state] = await Promise.all([
    sharedRead(() => readQueueStates(ctx), once)(),
    sharedRead(() => readRedisState(ctx.redis), once)(),
  ]);
  const problem = state ? state.problem : 'redis_away';
  return { queues, redis: problem ?? (queues ? null : 'redis_away') };
}

/** Waits until Redis answers, or until an attempt to connect fails, at most 350 ms. */
async function readyOrClosed(redis: Context['redis']): Promise<void> {
  const waiting = new AbortController();
  const closed = once(redis, 'close', waiting).catch(() => {});
  await Promise.race([redisReady(redis, redisLimitMs / 2), closed]);
  waiting.abort();
}

/** Reads the state of every queue. Throws when Redis is unreachable. */
function readQueueStates({ queues }: Pick<Context, 'queues'>): Promise<QueueState[]> {
  return Promise.all(
    poolNames.map(async (pool) => {
      const queue = queues[pool] as Queue;
      const [counts, paused, processes] = await Promise.all([
        queue.getJobCounts('wait', 'active', 'delayed'),
        queue.isPaused(),
        processesOf(queue),
      ]);
      const { wait: waiting = 0, active = 0, delayed = 0 } = counts;
      return { pool, paused, waiting, active, delayed, processes };
    }),
  );
}

/** Null if the Redis of a provider, or the user of REDIS_URL, may not list connections: no other command needs that. */
async function processesOf(queue: Queue): Promise<string[] | null> {
  const connections = await queue.getWorkers().catch(() => null);
  if (!connections || connections.some(({ addr }) => addr === undefined)) return null;
  // After a lost connection, Redis may list a process twice.
  const names = connections.map(({ rawname = '', addr = '' }) => rawname.split(':w:')[1] ?? addr);
  return [...new Set(names)].sort();
}

/** Reads how late the oldest item of each kind is, and which keys have waiting events. */
export async function readBacklogReport(): Promise<BacklogReport> {
  const [oldest, waiting, overdue] = await Promise.all([readBacklog(), readWaitingByKey(), countBacklog()]);
  return {
    oldestUnsettledSeconds: Math.round(oldest.unsettledEvent),
    oldestOverdueSeconds: Math.round(oldest.overdueTimer),
    oldestAttemptSeconds: Math.round(oldest.overdueAttempt),
    oldestMailSeconds: Math.round(oldest.overdueMail),
    oldestMessageSeconds: Math.round(oldest.overdueMessage),
    overdue,
    waitingByKey: waiting,
  };
}

async function readWaitingByKey(): Promise<WaitingKey[]> {
  const order = { unsettledSince: 1, _id: 1 } as const;
  const groups = await rides
    .aggregate<{ _id: string; rides: number }>(
      [
        { $match: { unsettled: { $gt: 0 } } },
        { $sort: order },
        { $limit: oldestRides },
        { $group: { _id: '$keyId', rides: { $sum: 1 } } },
        { $sort: { rides: -1, _id: 1 } },
        { $limit: maxListedKeys },
      ],
      { hint: order, ...timeLimit() },
    )
    .toArray();
  const ids = groups.map(({ _id }) => _id);
  const found = await findAmong(keys, ids, { name: 1, failing: 1 });
  return groups.map(({ _id: keyId, rides }) => {
    const { name, failing } = found.find((key) => key._id === keyId) ?? {};
    return { keyId, name, rides, ...(failing && { failuresInRow: failing.inRow, reason: failing.reason }) };
  });
}
