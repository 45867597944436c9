import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';
import type { TimerName } from './rides/ride-types.ts';

/** One worker pool for each queue, of the same name. */
export const poolNames = ['bidding', 'simulator', 'webhooks', 'webhooks-slow'] as const;
export type PoolName = (typeof poolNames)[number];

/** Job data says where to look, and nothing else: it holds ids only. */
export interface TimerJob {
  rideId: string;
  timer: TimerName;
}
export interface DeliveryJob {
  rideId: string;
  keyId: string;
  seq: number;
}

export interface Queues {
  bidding: Queue<TimerJob>;
  simulator: Queue<TimerJob>;
  webhooks: Queue<DeliveryJob>;
  'webhooks-slow': Queue<DeliveryJob>;
}

/** The hash tag gives each queue a slot of its own, so that the queues spread over a Redis Cluster. */
export const queuePrefix = (pool: PoolName): string => `{rides:${pool}}`;

/** Finished jobs are kept for a developer to look at: the workers see to that. */
export const keepFinished = { removeOnComplete: { count: 1_000 }, removeOnFail: { count: 1_000 } };

/** The producers' side of every queue, on one connection. Adding fails at once while Redis is away. */
export function createQueues(connection: Redis, log: Logger): Queues {
  const create = <T>(pool: PoolName): Queue<T> => {
    const queue = new Queue<T>(pool, {
      connection,
      prefix: queuePrefix(pool),
      skipVersionCheck: true,
      skipWaitingForReady: true,
      defaultJobOptions: { attempts: 1 },
      // As many of BullMQ's own events: a developer's tools follow them, nothing here does.
      streams: { events: { maxLen: 1_000 } },
    });
    queue.on('error', (error) => log.debug({ pool, error: describeError(error) }, 'queue error'));
    return queue as Queue<T>;
  };
  return {
    bidding: create('bidding'),
    simulator: create('simulator'),
    webhooks: create('webhooks'),
    'webhooks-slow': create('webhooks-slow'),
  };
}

export interface NewJob {
  /** The dedupe id: a job that still waits is replaced, one that runs swallows the new one. */
  id: string;
  name: string;
  data: TimerJob | DeliveryJob;
  /** By MongoDB's clock; at once where there is none. */
  dueAt?: Date;
  /**
   * Adds it also beside one that is active. In an outage Redis may have given that one to a worker that never heard of
   * it, and BullMQ would miss it only when its lock has lapsed. Where it does run, the second finds nothing to do.
   */
  evenIfActive?: boolean;
}

/**
 * Adds a job and never fails: the fact is in MongoDB already, and what Redis did not take the sweeper adds. Answers
 * whether Redis took it.
 */
export async function addJob(
  ctx: { queues: Queues; log: Logger; now(): number },
  pool: PoolName,
  job: NewJob,
): Promise<boolean> {
  try {
    if (job.evenIfActive) await forgetIfActive(ctx.queues[pool], job.id);
    // By MongoDB's clock, like all that is due: this host's own may be wrong. The delay counts from this very time.
    const now = ctx.now();
    await (ctx.queues[pool] as Queue).add(job.name, job.data, {
      timestamp: now,
      delay: job.dueAt ? Math.max(0, job.dueAt.getTime() - now) : 0,
      deduplication: { id: job.id, replace: true },
    });
    return true;
  } catch (error) {
    ctx.log.warn({ pool, job: job.id, error: describeError(error) }, 'job not added: the sweeper will');
    return false;
  }
}

async function forgetIfActive(queue: Queue, id: string): Promise<void> {
  const jobId = await queue.getDeduplicationJobId(id);
  if (jobId && (await queue.getJobState(jobId)) === 'active') await queue.removeDeduplicationKey(id);
}
