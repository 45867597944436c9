import type { Context } from '../../base/context.ts';
import {
  dependencyUp,
  keysFailing,
  lastBackup,
  mongoDisk,
  oldestOverdueAttempt,
  oldestOverdueMail,
  oldestOverdueMessage,
  oldestOverdueTimer,
  oldestUnsettledEvent,
  queueJobs,
  redisMemory,
  registry,
  ridesOpen,
} from '../../base/metrics.ts';
import { database, pingMongo } from '../../base/mongo/connect-mongo.ts';
import { poolNames } from '../../base/queues.ts';
import { readRedisState } from '../../base/redis/redis-state.ts';
import { countOpenRides } from '../../rides/open-rides.ts';
import { countFailingKeys } from '../../webhooks/delivery-health.ts';
import { readBacklog } from './backlog.ts';
import { sharedRead } from './shared-read.ts';

/** Scrapes within this time share one read of MongoDB and Redis. */
const everyMs = 2_000;
/** These values change slowly, so they are read less often. */
const slowly = { everyMs: 60_000, limitMs: 1_500 };
const limitMs = 1_500;
const states = ['wait', 'active', 'delayed'] as const;

/** Creates the function that renders all metrics. Those of shared state are NaN while it is unknown. */
export function scraper(ctx: Pick<Context, 'queues' | 'redis'>): () => Promise<string> {
  const readings = {
    backlog: sharedRead(() => readBacklog('live'), { everyMs, limitMs }),
    queues: sharedRead(() => readQueues(ctx.queues), { everyMs, limitMs }),
    mongo: sharedRead(pingMongo, { everyMs, limitMs }),
    redis: sharedRead(() => readRedisState(ctx.redis), { everyMs, limitMs }),
    failing: sharedRead(countFailingKeys, slowly),
    disk: sharedRead(mongoDiskShare, slowly),
    backup: sharedRead(lastBackupAt, slowly),
    open: sharedRead(countOpenRides, slowly),
  };
  return async () => {
    const [backlog, queues, mongo, redis, failing, disk, backup, open] = await Promise.all([
      readings.backlog(),
      readings.queues(),
      readings.mongo(),
      readings.redis(),
      readings.failing(),
      readings.disk(),
      readings.backup(),
      readings.open(),
    ]);
    oldestUnsettledEvent.set(backlog?.unsettledEvent ?? Number.NaN);
    oldestOverdueTimer.set(backlog?.overdueTimer ?? Number.NaN);
    oldestOverdueAttempt.set(backlog?.overdueAttempt ?? Number.NaN);
    oldestOverdueMail.set(backlog?.overdueMail ?? Number.NaN);
    oldestOverdueMessage.set(backlog?.overdueMessage ?? Number.NaN);
    ridesOpen.set({ asked: 'yes' }, open?.asked ?? Number.NaN);
    ridesOpen.set({ asked: 'no' }, open?.unasked ?? Number.NaN);
    keysFailing.set(failing ?? Number.NaN);
    mongoDisk.set(disk ?? Number.NaN);
    redisMemory.set(redis?.memoryShare ?? Number.NaN);
    if (backup) lastBackup.set(backup.getTime() / 1_000);
    else lastBackup.remove();
    for (const queue of poolNames) {
      for (const state of states) queueJobs.set({ queue, state }, queues?.get(queue)?.[state] ?? Number.NaN);
    }
    dependencyUp.set({ dependency: 'mongo' }, mongo === null ? 0 : 1);
    dependencyUp.set({ dependency: 'redis' }, redis && !redis.problem ? 1 : 0);
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

/** The time limit of one query. */
const queryLimitMs = 1_000;

/** The used share of the disk on which MongoDB keeps its data. Undefined if MongoDB does not report it. */
export async function mongoDiskShare(): Promise<number | undefined> {
  const { fsUsedSize, fsTotalSize } = await database().command({ dbStats: 1, maxTimeMS: queryLimitMs });
  return fsTotalSize > 0 ? fsUsedSize / fsTotalSize : undefined;
}

/** The time of the last successful backup (`ops backup`). Undefined if there has been none. */
export async function lastBackupAt(): Promise<Date | undefined> {
  const backup = await database()
    .collection<{ _id: string; at: Date }>('operations')
    .findOne({ _id: 'backup' }, { maxTimeMS: queryLimitMs });
  return backup?.at;
}
