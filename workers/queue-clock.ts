import { type BackendFactory, createRedisBackend, type RedisQueueBackend } from 'bullmq';

/** Where BullMQ's scripts are given the time: after their keys and the queue's prefix or the job's id. */
const timeAt: Record<string, number> = { moveToActive: 12, moveToDelayed: 12, moveToFinished: 15 };

/**
 * A worker's side of a queue that goes by `now`, MongoDB's clock. BullMQ judges what is due by the clock of the worker's
 * host, while jobs are added by MongoDB's: on a host that is an hour behind they would wait until the sweeper adds them
 * again, and on one that is ahead all would come at once, an hour early. BullMQ has no setting for it, so the scripts get
 * this time, and the due times that Redis answers are turned into the host's, with which BullMQ reckons how long to wait.
 */
export function byClock(now: () => number): BackendFactory<RedisQueueBackend> {
  return (name, opts, options) => {
    const backend = createRedisBackend(name, opts, options);
    const toHost = (dueMs: number) => (dueMs > 0 ? dueMs - now() + Date.now() : dueMs);

    const { execCommand, moveToActive, moveToFinished, waitForJob } = backend;
    backend.execCommand = (client, command, args) => {
      const place = timeAt[command];
      return execCommand.call(backend, client, command, place === undefined ? args : args.with(place, now()));
    };
    const nextJobByHost = ([job, id, limitMs, dueMs = 0]: unknown[] = []) => [job, id, limitMs, toHost(Number(dueMs))];
    backend.moveToActive = async (...args) => nextJobByHost(await moveToActive.apply(backend, args));
    backend.moveToFinished = async (...args) => {
      const next = await moveToFinished.apply(backend, args);
      return Array.isArray(next) ? nextJobByHost(next) : next;
    };
    backend.waitForJob = async (...args) => {
      const marker = await waitForJob.apply(backend, args);
      return marker && { ...marker, score: toHost(marker.score) };
    };
    return backend;
  };
}
