import type { Context } from '../shared/base/context.ts';
import type { Logger } from '../shared/base/logger.ts';
import type { PoolName } from '../shared/base/queues.ts';
import type { TimerResult } from '../shared/rides/fire-timer.ts';

/**
 * Runs one kind of job. Handlers are idempotent: MongoDB holds the pending work, so duplicate, late or lost jobs are
 * harmless. A handler throws only unexpected errors.
 */
export type Handler<Job> = (ctx: Context, job: Job, run: Run) => Promise<JobResult>;

/** One run of a job. */
export interface Run {
  pool: PoolName;
  /** Unique to this run: a second run of the same job has another token. */
  token: string;
  /** Aborts when the pool stops. From then on, a run may wait only for an attempt in flight. */
  stopping: AbortSignal;
}

/** A finished job, or a delay after which the same job runs again. */
export type JobResult = FinishedRun | RunAgain;

/** BullMQ stores these fields with the job, for debugging. */
export type FinishedRun = {
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

/**
 * Converts the result of a timer to the result of its job. If the timer is not due yet by MongoDB's clock, the job runs
 * again when it is due.
 */
export function timerOutcome(timer: TimerResult): JobResult {
  if (timer.result === 'early') return { againInMs: timer.remainingMs, why: 'early' };
  return timer;
}

const loggedResults = new WeakSet<JobResult>();

/** Logs a run with the fields of its kind of job. This line replaces the general one that `runJob` would log. */
export function withLogLine<Result extends JobResult>(
  log: Logger,
  result: Result,
  fields: object,
  message: string,
  level: 'info' | 'warn' = 'info',
): Result {
  log[level](fields, message);
  loggedResults.add(result);
  return result;
}

export const hasLogLine = (result: JobResult): boolean => loggedResults.has(result);
