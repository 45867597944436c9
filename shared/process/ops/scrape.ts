import type { Context } from '../../base/context.ts';
import {
  dependencyUp,
  oldestOverdueAttempt,
  oldestOverdueMail,
  oldestOverdueTimer,
  oldestUnsettledEvent,
  queueJobs,
  registry,
} from '../../base/metrics.ts';
import { pingMongo } from '../../base/mongo/connection.ts';
import { poolNames } from '../../base/queues.ts';
import { pingRedis } from '../../base/redis/redis-nodes.ts';
import { readBacklog } from './backlog.ts';
import { sharedRead } from './shared-read.ts';

/** Scrapes within this time share one read of MongoDB and Redis. */
const everyMs = 2_000;
const limitMs = 1_500;
const states = ['wait', 'active', 'delayed'] as const;

/**
 * Creates the function that renders all metrics. It also reads the state that all processes share; these metrics are
 * NaN while the state is unknown.
 */
export function scraper(ctx: Pick<Context, 'queues' | 'redis'>): () => Promise<string> {
  const readings = [
    sharedRead(readBacklog, { everyMs, limitMs }),
    sharedRead(() => readQueues(ctx.queues), { everyMs, limitMs }),
    sharedRead(pingMongo, { everyMs, limitMs }),
    sharedRead(() => pingRedis(ctx.redis), { everyMs, limitMs }),
  ] as const;
  return async () => {
    const [backlog, queues, mongo, redis] = await Promise.all([
      readings[0](),
      readings[1](),
      readings[2](),
      readings[3](),
    ]);
    oldestUnsettledEvent.set(backlog?.unsettledEvent ?? Number.NaN);
    oldestOverdueTimer.set(backlog?.overdueTimer ?? Number.NaN);
    oldestOverdueAttempt.set(backlog?.overdueAttempt ?? Number.NaN);
    oldestOverdueMail.set(backlog?.overdueMail ?? Number.NaN);
    for (const queue of poolNames) {
      for (const state of states) queueJobs.set({ queue, state }, queues?.get(queue)?.[state] ?? Number.NaN);
    }
    dependencyUp.set({ dependency: 'mongo' }, mongo === null ? 0 : 1);
    dependencyUp.set({ dependency: 'redis' }, redis === null ? 0 : 1);
    return registry.metrics();
  };
}

/** Leaves out the queues of a node that does not answer. */
async function readQueues(queues: Context['queues']): Promise<Map<string, Record<string, number>>> {
  const counts = await Promise.allSettled(
    poolNames.map(async (pool) => [pool, await queues[pool].getJobCounts(...states)] as const),
  );
  return new Map(counts.flatMap((count) => (count.status === 'fulfilled' ? [count.value] : [])));
}
