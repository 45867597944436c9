import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { Worker } from 'bullmq';
import type { Context } from '../shared/base/context.ts';
import { describeError } from '../shared/base/errors.ts';
import {
  type AttemptJob,
  type DeliveryJob,
  keepFinished,
  type MailJob,
  type MessageJob,
  type PoolName,
  queuePrefix,
  type TimerJob,
} from '../shared/base/queues.ts';
import { onRedisReturned, type RedisClient } from '../shared/base/redis/redis-nodes.ts';
import { runBiddingTimer } from './bidding.ts';
import { dispatchRide } from './dispatch.ts';
import type { Handler } from './handler.ts';
import { sendStoredMail } from './mail-jobs.ts';
import { runMessageJob } from './message-jobs.ts';
import { redisBackendWithClock } from './queue-clock.ts';
import { findRoad } from './routing.ts';
import { runJob } from './run-job.ts';
import { simulateStep } from './simulated-driver.ts';
import { deliver } from './webhooks/deliver.ts';

/** The handler of each pool. A pool runs the jobs of the queue with the same name. */
const handlers = {
  bidding: runBiddingTimer,
  simulator: simulateStep,
  dispatch: dispatchRide,
  webhooks: deliver,
  'webhooks-slow': deliver,
  routing: findRoad,
  mail: sendStoredMail,
  messages: runMessageJob,
} satisfies Record<
  PoolName,
  Handler<TimerJob> | Handler<DeliveryJob | AttemptJob> | Handler<MailJob> | Handler<TimerJob | MessageJob>
>;

/**
 * With BullMQ's defaults, the job of a killed worker would run again only after 90 s, and would fail permanently at the
 * second crash. After a Redis error, a worker would pause for 15 s.
 */
export const recoveryOptions = {
  lockDuration: 8_000,
  stalledInterval: 2_000,
  maxStalledCount: 10,
  runRetryDelay: 1_000,
};

/**
 * The name by which operators see this process in `ops queues` and on the queue board, and which a job that it ran
 * keeps: its host, which is the container's or the pod's name, and its process id.
 */
const processName = `${hostname()}:${process.pid}`;

/**
 * Starts a pool: runs the jobs of its queue, at most `concurrency` at a time. `heartbeat` records that the pool lives.
 */
export function startPool(
  ctx: Context,
  connection: RedisClient,
  pool: PoolName,
  concurrency = ctx.config.concurrency[pool],
  heartbeat?: Heartbeat,
): Worker {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Every waiting run listens to the signal.
  const worker: Worker = new Worker(
    pool,
    (job, lock) => runJob(ctx, handlers[pool] as Handler<unknown>, job, { pool, lock, stopping: stop.signal }),
    {
      connection,
      name: processName,
      prefix: queuePrefix(pool),
      concurrency,
      // Keeps BullMQ's check of the Redis version. Without the check, BullMQ rounds blocking waits up to whole seconds,
      // and timers run late.
      ...recoveryOptions,
      ...keepFinished,
      telemetry: ctx.tracing?.jobs,
    },
    redisBackendWithClock(ctx.now, heartbeat?.beat),
  );
  worker.on('closing', () => stop.abort());
  worker.on('error', (error) => ctx.log.debug({ pool, error: describeError(error) }, 'worker error'));
  let returnedAt = Number.NEGATIVE_INFINITY;
  let hasConnected = connection.status === 'ready';
  const stopListening = onRedisReturned(connection, () => {
    if (hasConnected) returnedAt = performance.now();
    hasConnected = true;
  });
  worker.on('closed', stopListening);
  worker.on('stalled', (jobId) => ctx.log.warn({ pool, jobId }, stalledText(performance.now() - returnedAt)));
  return worker;
}

/**
 * The reason for which a job's lock was not renewed in time, for the log. `sinceReturnMs`: the time since this process
 * lost and regained Redis. The lock of a running job expires while its worker does not reach Redis.
 */
export function stalledText(sinceReturnMs: number): string {
  const { lockDuration, stalledInterval } = recoveryOptions;
  return sinceReturnMs < lockDuration + stalledInterval
    ? 'job stalled: Redis was away, so its lock expired'
    : 'job stalled: its worker has ended, hangs, or does not reach Redis';
}

/**
 * A pool counts as hanging when for this long Redis has answered no request for a job and no job has finished. An idle
 * pool asks every 5 s; the longest job, a mail, takes less than a minute.
 */
const silentMs = 60_000;

/** The heartbeat of a pool. It is needed because a process still answers pings while one of its pools hangs. */
export interface Heartbeat {
  /** Call when Redis has answered a request for a job, or a job has finished. */
  beat(): void;
  readonly isBeating: boolean;
}

/** Creates a heartbeat. `isBeating` is true at first, and while the last beat is less than `silentMs` ago. */
export function createHeartbeat(now: () => number = () => performance.now()): Heartbeat {
  let lastAt = now();
  return {
    beat() {
      lastAt = now();
    },
    get isBeating() {
      return now() - lastAt < silentMs;
    },
  };
}

/** Rejects while any of the pools hangs. */
export async function assertNoPoolHangs(heartbeats: Readonly<Record<string, Heartbeat>>): Promise<void> {
  const hanging = Object.keys(heartbeats).filter((pool) => !heartbeats[pool]?.isBeating);
  if (hanging.length > 0) throw Object.assign(new Error('a pool fetches no jobs'), { code: hanging.join('+') });
}
