import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from 'bullmq';

/** The index of the current time among the arguments of these scripts of BullMQ. */
const timeIndex: Record<string, number> = { moveToActive: 12, moveToDelayed: 12, moveToFinished: 15 };

/**
 * Makes a worker judge what is due by `now`, MongoDB's clock. BullMQ uses the clock of the worker's host and has no setting
 * for it. Jobs are added by MongoDB's clock, so on a host an hour behind they would wait until the sweeper adds them again,
 * and on a host an hour ahead they would all run an hour early. The scripts get MongoDB's time, and the due times that they
 * return are converted to the host's clock, from which BullMQ computes how long to wait. `onAsked` is called whenever Redis
 * has answered the question for a job.
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
    /** BullMQ renews a job's lock by the time between its start and the host's clock. */
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
