import { setMaxListeners } from 'node:events';
import { Worker } from 'bullmq';
import type { Context } from '../shared/base/context.ts';
import { describeError } from '../shared/base/errors.ts';
import {
  type AttemptJob,
  type DeliveryJob,
  keepFinished,
  type MailJob,
  type PoolName,
  queuePrefix,
  type TimerJob,
} from '../shared/base/queues.ts';
import type { RedisClient } from '../shared/base/redis/redis-nodes.ts';
import { runBiddingTimer } from './bidding.ts';
import { dispatchRide } from './dispatch.ts';
import type { Handler } from './handler.ts';
import { sendStoredMail } from './mail.ts';
import { redisBackendWithClock } from './queue-clock.ts';
import { runJob } from './run-job.ts';
import { simulateStep } from './simulated-driver.ts';
import { deliver } from './webhooks/deliver.ts';

/** The handler of each pool's jobs. A pool's jobs come from the queue of the same name. */
const handlers = {
  bidding: runBiddingTimer,
  simulator: simulateStep,
  dispatch: dispatchRide,
  webhooks: deliver,
  'webhooks-slow': deliver,
  mail: sendStoredMail,
} satisfies Record<PoolName, Handler<TimerJob> | Handler<DeliveryJob | AttemptJob> | Handler<MailJob>>;

/**
 * With BullMQ's defaults, the job of a killed worker would resume after 90 s and be given up at the second crash, and a
 * worker would wait 15 s after an error of Redis.
 */
const recovery = { lockDuration: 8_000, stalledInterval: 2_000, maxStalledCount: 10, runRetryDelay: 1_000 };

/** Starts to run the jobs of a pool's queue, at most `concurrency` at a time. `pulse` beats while the pool does. */
export function startPool(
  ctx: Context,
  connection: RedisClient,
  pool: PoolName,
  concurrency = ctx.config.concurrency[pool],
  pulse?: Pulse,
): Worker {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Every waiting run listens to it.
  const worker: Worker = new Worker(
    pool,
    (job, lock) => runJob(ctx, handlers[pool] as Handler<unknown>, job, { pool, lock, stopping: stop.signal }),
    {
      connection,
      prefix: queuePrefix(pool),
      concurrency,
      // BullMQ's version check stays on: without it, BullMQ rounds blocking waits up to whole seconds and timers are
      // late.
      ...recovery,
      ...keepFinished,
      telemetry: ctx.tracing?.jobs,
    },
    redisBackendWithClock(ctx.now, pulse?.beat),
  );
  worker.on('closing', () => stop.abort());
  worker.on('error', (error) => ctx.log.debug({ pool, error: describeError(error) }, 'worker error'));
  worker.on('stalled', (jobId) => ctx.log.warn({ pool, jobId }, 'job stalled: its worker is gone'));
  return worker;
}

/**
 * A pool that neither asked Redis for a job nor ended one for this long hangs. An idle pool asks every 5 s; the longest job, a
 * mail, takes less than a minute.
 */
const silentMs = 60_000;

/** Notes the signs of life of a pool. A process whose pool hangs still answers pings, so a ping proves nothing. */
export interface Pulse {
  /** A job was asked for, or has ended. */
  beat(): void;
  readonly isBeating: boolean;
}

/** Starts as beating. */
export function startPulse(now: () => number = () => performance.now()): Pulse {
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

/** Rejects while one of the pools hangs. */
export async function assertBeating(pulses: Readonly<Record<string, Pulse>>): Promise<void> {
  const hanging = Object.keys(pulses).filter((pool) => !pulses[pool]?.isBeating);
  if (hanging.length > 0) throw Object.assign(new Error('a pool takes no jobs'), { code: hanging.join('+') });
}
