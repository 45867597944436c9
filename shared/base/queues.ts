import { Queue } from 'bullmq';
import { describeError } from './errors.ts';
import type { Logger } from './logger.ts';
import type { RedisClient } from './redis/redis-nodes.ts';
import type { TimerName } from './terms.ts';
import type { Tracing } from './tracing.ts';

/** The names of the worker pools. Each pool runs the jobs of the queue with the same name. */
export const poolNames = [
  'bidding',
  'simulator',
  'dispatch',
  'webhooks',
  'webhooks-slow',
  'routing',
  'mail',
  'messages',
] as const;
export type PoolName = (typeof poolNames)[number];

/** The data of a job contains only ids: the worker reads everything else from MongoDB. */
export interface TimerJob {
  rideId: string;
  timer: TimerName;
}
export interface DeliveryJob {
  rideId: string;
  keyId: string;
  seq: number;
  /** Only stores the copies for further endpoints: earlier events of the ride are sent first. */
  copiesOnly?: true;
}
export interface MailJob {
  mailId: string;
}
export interface MessageJob {
  messageId: string;
}
/** A requested attempt: a test event or a redelivery. */
export interface AttemptJob {
  attemptId: string;
  keyId: string;
  /** The further endpoint that it goes to. */
  endpointId?: string;
}

export interface Queues {
  bidding: Queue<TimerJob>;
  simulator: Queue<TimerJob>;
  dispatch: Queue<TimerJob>;
  webhooks: Queue<DeliveryJob | AttemptJob>;
  'webhooks-slow': Queue<DeliveryJob | AttemptJob>;
  routing: Queue<TimerJob>;
  mail: Queue<MailJob>;
  messages: Queue<TimerJob | MessageJob>;
}

/** The prefix of a queue's Redis keys. Its hash tag lets queues spread over the nodes of a Redis Cluster. */
export const queuePrefix = (pool: PoolName): string => `{rides:${pool}}`;

/** Worker options that keep the last 1,000 completed and 1,000 failed jobs of a queue, for a developer to inspect. */
export const keepFinished = { removeOnComplete: { count: 1_000 }, removeOnFail: { count: 1_000 } };

/** Creates the producer side of every queue, on one connection. Without Redis, adding a job fails at once. */
export function createQueues(connection: RedisClient, log: Logger, tracing?: Tracing): Queues {
  const create = (pool: PoolName): Queue => {
    const queue = new Queue(pool, {
      connection,
      prefix: queuePrefix(pool),
      skipVersionCheck: true,
      skipWaitingForReady: true,
      defaultJobOptions: { attempts: 1 },
      // Limits BullMQ's own event stream, which only developer tools read.
      streams: { events: { maxLen: 1_000 } },
      telemetry: tracing?.jobs,
    });
    queue.on('error', (error) => log.debug({ pool, error: describeError(error) }, 'queue error'));
    return queue;
  };
  return Object.fromEntries(poolNames.map((pool) => [pool, create(pool)])) as unknown as Queues;
}

interface NewJob {
  /** The dedupe id. A delayed job with this id is replaced; while one is due or active, the new job is dropped. */
  id: string;
  name: string;
  data: TimerJob | DeliveryJob | AttemptJob | MailJob | MessageJob;
  /** The due time on MongoDB's clock. Without it, the job is due at once. */
  dueAt?: Date;
  /**
   * Adds the job even while one with the same id is active. The active job may never run: during an outage Redis may
   * give it to a worker that never receives it, which BullMQ notices only when the job's lock expires. If the active
   * job does run, the second one finds nothing to do.
   */
  evenIfActive?: boolean;
}

/** Adds a job. Never rejects: the sweeper adds a missing job later. Resolves with true if Redis accepted the job. */
export async function addJob(
  ctx: { queues: Queues; log: Logger; now(): number },
  pool: PoolName,
  job: NewJob,
): Promise<boolean> {
  try {
    if (job.evenIfActive) await releaseIdOfActive(ctx.queues[pool], job.id);
    // MongoDB's clock, because this host's clock may be wrong. BullMQ adds the delay to this timestamp.
    const now = ctx.now();
    await (ctx.queues[pool] as Queue).add(job.name, job.data, {
      timestamp: now,
      delay: job.dueAt ? Math.max(0, job.dueAt.getTime() - now) : 0,
      deduplication: { id: job.id, replace: true },
    });
    return true;
  } catch (error) {
    ctx.log.warn({ pool, job: job.id, error: describeError(error) }, 'job not added: the sweeper will add it');
    return false;
  }
}

async function releaseIdOfActive(queue: Queue, id: string): Promise<void> {
  const jobId = await queue.getDeduplicationJobId(id);
  if (jobId && (await queue.getJobState(jobId)) === 'active') await queue.removeDeduplicationKey(id);
}
