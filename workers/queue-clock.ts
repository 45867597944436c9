import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from 'bullmq';

/** The index of the current time in the argument lists of these BullMQ scripts. */
const timeIndex: Record<string, number> = { moveToActive: 12, moveToDelayed: 12, moveToFinished: 15 };

/**
 * Makes a worker decide by MongoDB's clock (`now`) which jobs are due, because the due times of jobs come from
 * MongoDB's clock. BullMQ uses the clock of the worker's host and has no setting for another one. A host an hour behind
 * would leave due jobs waiting until the sweeper adds them again, and a host an hour ahead would run all jobs an hour
 * early.
 *
 * BullMQ's scripts get MongoDB's time. The due times that they return are converted to the host's clock, because BullMQ
 * computes from it how long to wait. Calls `onAsked` whenever Redis has answered a request for a job.
 *
 * The scripts' arguments are internal to BullMQ, so package.json pins 6.7.0 exactly.
 */
export function redisBackendWithClock(
  now: () => number,
  onAsked: () => void = () => {},
): BackendFactory<RedisQueueBackend> {
  return (name, opts, options) => {
    const backend = createRedisBackend(name, opts, options);
    const toHostTime = (dueMs: number) => (dueMs > 0 ? dueMs - now() + Date.now() : dueMs);
    /** BullMQ renews a job's lock by the host's clock, so the job's start is converted to that clock. */
    const withHostTime = (job: unknown) =>
      job ? { ...job, processedOn: toHostTime(Number((job as { processedOn?: number }).processedOn ?? 0)) } : job;

    const { execCommand, moveToActive, moveToFinished, waitForJob } = backend;
    backend.execCommand = (client, command, args) => {
      const index = timeIndex[command];
      return execCommand.call(backend, client, command, index === undefined ? args : args.with(index, now()));
    };
    const nextJob = ([job, id, limitMs, dueMs = 0]: unknown[] = []) => [
      withHostTime(job),
      id,
      limitMs,
      toHostTime(Number(dueMs)),
    ];
    backend.moveToActive = async (...args) => {
      const next = await moveToActive.apply(backend, args);
      onAsked();
      return nextJob(next);
    };
    backend.moveToFinished = async (...args) => {
      const next = await moveToFinished.apply(backend, args);
      onAsked();
      return Array.isArray(next) ? nextJob(next) : next;
    };
    backend.waitForJob = async (...args) => {
      const marker = await waitForJob.apply(backend, args);
      onAsked();
      return marker && { ...marker, score: toHostTime(marker.score) };
    };
    return backend;
  };
}
