import type { Context } from '../shared/context.ts';
import type { PoolName } from '../shared/queues.ts';

/** One run of a job. `token` is this run's own: the second run of the same job has another. */
export interface Run {
  pool: PoolName;
  token: string;
  /** Aborts when the pool is to stop: a run then waits for nothing but an attempt that is under way. */
  stopping: AbortSignal;
}

/** What a run came to: shown beside the job, or that the same job is to run again after a time. */
export type Outcome = Done | Again;
export type Done = {
  result: string;
  event?: string;
  status?: string;
  httpStatus?: number;
  reason?: string;
  durationMs?: number;
};
export type Again = { againInMs: number; why: string };

/**
 * A job kind is a function. It can run twice, late or never, and nothing goes wrong: what is to be done stands in
 * MongoDB. It returns when it is done and throws only what it did not foresee.
 */
export type Handler<Job> = (ctx: Context, job: Job, run: Run) => Promise<Outcome>;
