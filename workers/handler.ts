import type { Context } from '../shared/base/context.ts';
import type { Logger } from '../shared/base/logging/logger.ts';
import type { PoolName } from '../shared/base/queues.ts';
import type { TimerResult } from '../shared/rides/fire-timer.ts';

/**
 * Handles the jobs of one kind. Handlers are idempotent: MongoDB holds the pending work, so duplicate, late or lost jobs are
 * harmless. A handler throws only unexpected errors.
 */
export type Handler<Job> = (ctx: Context, job: Job, run: Run) => Promise<JobResult>;

/** One run of a job. */
export interface Run {
  pool: PoolName;
  /** Unique to this run: a second run of the same job has another token. */
  token: string;
  /** Aborts when the pool stops. After that a run waits only for an attempt that is under way. */
  stopping: AbortSignal;
}

/** The job is finished, or the same job runs again after a time. */
export type JobResult = Finished | RunAgain;

/** BullMQ keeps these fields with the job, for a developer to look at. */
export type Finished = {
  result: string;
  event?: string;
  status?: string;
  /** The ride's key and the request that created the ride. */
  keyId?: string;
  requestId?: string;
  httpStatus?: number;
  reason?: string;
  durationMs?: number;
};

export type RunAgain = { againInMs: number; why: string };

/** The result of a timer's job: a timer that is early by MongoDB's clock runs again when it is due. */
export function timerOutcome(timer: TimerResult): JobResult {
  if (timer.result === 'early') return { againInMs: timer.remainingMs, why: 'early' };
  return timer;
}

const lined = new WeakSet<JobResult>();

/** Logs the one line of a run with fields of its kind, instead of the line that every other run gets (run-job.ts). */
export function withLine<Result extends JobResult>(
  log: Logger,
  result: Result,
  fields: object,
  message: string,
  level: 'info' | 'warn' = 'info',
): Result {
  log[level](fields, message);
  lined.add(result);
  return result;
}

export const hasLine = (result: JobResult): boolean => lined.has(result);
