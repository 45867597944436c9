import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Context } from '../../../shared/base/context.ts';
import { createLogger } from '../../../shared/base/logger.ts';
import { addJob, createQueues, keepFinished, type PoolName, queuePrefix } from '../../../shared/base/queues.ts';
import { connectWorkerRedis } from '../../../shared/base/redis/redis.ts';
import { recoveryOptions } from '../../../workers/pools.ts';
import { redisBackendWithClock } from '../../../workers/queue-clock.ts';
import { answer } from '../measured/ipc.ts';

/** Adds jobs to the queue POOL as the API does, and runs them as a worker does, except that a run does nothing. */
const { REDIS_URL = '', POOL } = process.env;
const pool = POOL as PoolName;
const addsAtOnce = 64;
const concurrency = 100;

export type WorkResult = { done: number; repeated: number };

const log = createLogger('silent', 'bench');
const queues = createQueues(new Redis(REDIS_URL), log);
const producer = { queues, log, now: Date.now } as unknown as Context;
let done = new Set<string>();
let repeated = 0;
let onDone: () => void = () => {};

new Worker(
  pool,
  async ({ data }) => {
    if (done.has(data.rideId)) repeated += 1;
    done.add(data.rideId);
    onDone();
  },
  {
    connection: connectWorkerRedis(REDIS_URL, log),
    prefix: queuePrefix(pool),
    concurrency,
    ...recoveryOptions,
    ...keepFinished,
  },
  redisBackendWithClock(Date.now),
).on('error', console.error);

answer('work', async ({ jobs }: { jobs: number }): Promise<WorkResult> => {
  done = new Set();
  repeated = 0;
  const allDone = new Promise<void>((resolve) => {
    onDone = () => {
      if (done.size === jobs) resolve();
    };
  });
  let added = 0;
  const addSome = async () => {
    while (added < jobs) {
      added += 1;
      const rideId = `ride_${added}`;
      const data = { rideId, keyId: 'key_bench', seq: 1 };
      if (!(await addJob(producer, pool, { id: rideId, name: 'deliver', data })))
        throw new Error('a job was not added');
    }
  };
  await Promise.all(Array.from({ length: addsAtOnce }, addSome));
  await allDone;
  return { done: done.size, repeated };
});
process.send?.('ready');
