import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { DelayedError, type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { isOutageOfMongo } from '../shared/mongo/outage.ts';
import { type DeliveryJob, keepFinished, type PoolName, queuePrefix, type TimerJob } from '../shared/queues.ts';
import { expireBidding } from './bidding-expiry.ts';
import { pause } from './deadline.ts';
import type { Handler, Outcome, Run } from './handler.ts';
import { jobResult } from './job-result.ts';
import { byClock } from './queue-clock.ts';
import { simulateStep } from './simulated-driver.ts';
import { deliverWebhook } from './webhooks/deliver-event.ts';

/** What each pool does with a job of its queue. */
const handlers = {
  bidding: expireBidding,
  simulator: simulateStep,
  webhooks: deliverWebhook,
  'webhooks-slow': deliverWebhook,
} satisfies Record<PoolName, Handler<TimerJob> | Handler<DeliveryJob>>;

/** BullMQ's defaults would resume the job of a killed worker after 90 s, and give it up at the second crash. */
const recovery = { lockDuration: 8_000, stalledInterval: 2_000, maxStalledCount: 10 };
const outagePauseMs = 1_000;

/** Starts taking jobs of a pool's queue, as many at a time as its setting says where nothing else is given. */
export function startPool(
  ctx: Context,
  connection: Redis,
  pool: PoolName,
  concurrency = ctx.config.concurrency[pool],
): Worker {
  const handler = handlers[pool] as Handler<unknown>;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Each run that waits listens to it.
  const worker: Worker = new Worker(
    pool,
    async (job: Job, lock?: string) => {
      const outcome = await runOnce(ctx, handler, job, { pool, token: randomUUID(), stopping: stop.signal });
      if ('result' in outcome) return jobResult(outcome);
      await job.moveToDelayed(Date.now() + Math.ceil(outcome.againInMs), lock);
      throw new DelayedError(outcome.why);
    },
    {
      connection,
      prefix: queuePrefix(pool),
      concurrency,
      // BullMQ's version check stays on: skipping it rounds blocking waits up to whole seconds, and timers are late.
      ...recovery,
      ...keepFinished,
    },
    byClock(ctx.now),
  );
  worker.on('closing', () => stop.abort());
  worker.on('error', (error) => ctx.log.debug({ pool, error: describeError(error) }, 'worker error'));
  worker.on('stalled', (jobId) => ctx.log.warn({ pool, jobId }, 'job stalled: its worker is gone'));
  return worker;
}

/**
 * A job that meets an outage of MongoDB waits for its end, and goes on as the same run: a claim that it holds is still
 * its own. What else goes wrong is logged here and thrown on by name alone: BullMQ keeps an error's text in Redis, and it
 * may quote a value.
 */
async function runOnce(ctx: Context, handler: Handler<unknown>, job: Job, run: Run): Promise<Outcome> {
  const { pool, stopping } = run;
  for (;;) {
    try {
      return await handler(ctx, job.data, run);
    } catch (error) {
      const described = describeError(error);
      if (isOutageOfMongo(error) && stopping.aborted) return { againInMs: outagePauseMs, why: 'MongoDB is away' };
      if (isOutageOfMongo(error)) {
        ctx.log.debug({ pool, job: job.name, error: described }, 'MongoDB is away: the job waits');
        await pause(outagePauseMs, stopping);
        continue;
      }
      ctx.log.error({ pool, job: job.name, error: described }, 'job failed');
      throw new Error([described.name, described.code].join(' ').trim());
    }
  }
}
