import type { Job, Queue } from 'bullmq';
import { type PoolName, poolNames, type Queues } from '../../shared/base/queues.ts';
import { deliveryJobId, timerJobId, timerPool, timersWithJob } from '../../shared/rides/ride-jobs.ts';
import { attemptJobId } from '../../shared/webhooks/attempt-jobs.ts';
import type { RideHistory } from '../../shared/webhooks/ride-history.ts';
import { dueAtOf, stepOf } from './job-facts.ts';

/** A job of a ride. */
export interface RideJob {
  pool: PoolName;
  jobId: string;
  step: string;
  state: string;
  dueAt: Date;
  /** The process that ran the job last. */
  processedBy?: string;
  result?: string;
}

const senders = ['webhooks', 'webhooks-slow'] as const satisfies PoolName[];
/** A ride has more pending redeliveries only after hundreds of requests. */
const mostRedeliveries = 20;

/**
 * The jobs of a ride: pending ones, which are found by their dedupe ids, and those among the last 1,000 completed and
 * 1,000 failed jobs that each queue keeps. The earliest due first. Throws when Redis is unreachable.
 */
export async function jobsOfRide(queues: Queues, ride: RideHistory): Promise<RideJob[]> {
  const [pending, finished] = await Promise.all([
    Promise.all(pendingOf(ride).map(({ pool, id }) => findPending(queues, pool, id))),
    Promise.all(poolsOf(ride).map((pool) => findFinished(queues, pool, ride))),
  ]);
  // A job may have finished between the two reads.
  const jobs = new Map([...pending, ...finished].flat().map((job) => [`${job.pool} ${job.jobId}`, job]));
  return [...jobs.values()].sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
}

/** The dedupe ids that the ride's pending jobs can have. */
function pendingOf({ rideId, timers, events, redeliveries, messages }: RideHistory): { pool: PoolName; id: string }[] {
  const next = events.find(({ outcome }) => outcome === 'waiting');
  const waiting = redeliveries.filter(({ outcome }) => outcome === 'waiting').slice(0, mostRedeliveries);
  const sent = [
    ...(next ? [deliveryJobId(rideId, next.seq)] : []),
    ...waiting.map(({ attemptId }) => attemptJobId(attemptId)),
  ];
  return [
    ...timersWithJob(timers).map(({ name }) => ({ pool: timerPool(name), id: timerJobId(rideId, name) })),
    ...messages
      .filter(({ state }) => state === 'waiting')
      .map(({ messageId }) => ({ pool: 'messages' as const, id: messageId })),
    ...sent.flatMap((id) => senders.map((pool) => ({ pool, id }))),
  ];
}

async function findPending(queues: Queues, pool: PoolName, id: string): Promise<RideJob[]> {
  const queue = queues[pool] as Queue;
  const jobId = await queue.getDeduplicationJobId(id);
  const job = jobId ? await queue.getJob(jobId) : undefined;
  return job ? [rideJob(pool, job, await job.getState())] : [];
}

/** The queues in which a ride of this mode has jobs. */
const poolsOf = ({ mode }: RideHistory): PoolName[] =>
  poolNames.filter((pool) => pool !== 'mail' && pool !== (mode === 'test' ? 'dispatch' : 'simulator'));

async function findFinished(
  queues: Queues,
  pool: PoolName,
  { rideId, redeliveries, messages }: RideHistory,
): Promise<RideJob[]> {
  const attemptIds = new Set(redeliveries.map(({ attemptId }) => attemptId));
  const messageIds = new Set(messages.map(({ messageId }) => messageId));
  const jobs = await (queues[pool] as Queue).getJobs(['completed', 'failed']);
  return jobs
    .filter(
      (job) =>
        job && (job.data.rideId === rideId || attemptIds.has(job.data.attemptId) || messageIds.has(job.data.messageId)),
    )
    .map((job) => rideJob(pool, job, job.failedReason ? 'failed' : 'completed'));
}

function rideJob(pool: PoolName, job: Job, state: string): RideJob {
  const result = job.failedReason ?? job.returnvalue ?? undefined;
  return {
    ...{ pool, jobId: job.id ?? '', step: stepOf(job.data), state, dueAt: dueAtOf(job) },
    processedBy: job.processedBy,
    ...(result !== undefined && { result: typeof result === 'string' ? result : JSON.stringify(result) }),
  };
}
