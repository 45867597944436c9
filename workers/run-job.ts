import { randomUUID } from 'node:crypto';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { pause } from '../shared/base/abort-signal.ts';
import type { Context } from '../shared/base/context.ts';
import { describeError } from '../shared/base/errors.ts';
import { jobDuration, jobs } from '../shared/base/metrics.ts';
import { isOutageOfMongo } from '../shared/base/mongo/outage.ts';
import { type FinishedRun, type Handler, hasLogLine, type JobResult, type Run, type RunAgain } from './handler.ts';

const outagePauseMs = 1_000;

/**
 * Runs a job once, logs one line for it, and reports its result to BullMQ: completed, failed, or delayed. `lock` is
 * BullMQ's token for the job.
 */
export async function runJob(
  ctx: Context,
  handler: Handler<unknown>,
  job: Job,
  { lock, ...options }: Omit<Run, 'token'> & { lock?: string },
): Promise<FinishedRun> {
  const startedAt = performance.now();
  const { pool } = options;
  const count = (result: string) => {
    const elapsedMs = performance.now() - startedAt;
    jobs.inc({ pool, result });
    jobDuration.observe({ pool }, elapsedMs / 1_000);
    return Math.round(elapsedMs);
  };
  const result = await handle(ctx, handler, job, { ...options, token: randomUUID() }).catch((error) => {
    const durationMs = count('error');
    ctx.tracing?.note({ pool, ...job.data, outcome: 'error', durationMs }, { hasFailed: true });
    throw error;
  });
  const outcome = 'againInMs' in result ? 'again' : result.result;
  const durationMs = count(outcome);
  const { requestId, keyId, why } = result as Partial<FinishedRun & RunAgain>;
  const fields = { requestId, pool, keyId, ...job.data, outcome, why, durationMs };
  ctx.tracing?.note(fields);
  if (!hasLogLine(result)) ctx.log.info(fields, 'job');
  if ('againInMs' in result) {
    await job.moveToDelayed(Date.now() + Math.ceil(result.againInMs), lock);
    throw new DelayedError(result.why);
  }
  throwIfNotDelivered(result);
  return result;
}

/**
 * Calls the handler, and repeats the call while MongoDB is unavailable. The token stays the same, so the run keeps its
 * claim. Any other error is logged and replaced by an error with only its name and code: BullMQ stores the message in
 * Redis, and the original message could contain private data.
 */
async function handle(ctx: Context, handler: Handler<unknown>, job: Job, run: Run): Promise<JobResult> {
  const { pool, stopping } = run;
  const startedAt = performance.now();
  for (;;) {
    try {
      return await handler(ctx, job.data, run);
    } catch (error) {
      const described = describeError(error);
      if (isOutageOfMongo(error) && stopping.aborted) return { againInMs: outagePauseMs, why: 'MongoDB unavailable' };
      if (isOutageOfMongo(error)) {
        ctx.log.debug({ pool, job: job.name, error: described }, 'MongoDB is unavailable: the job waits');
        await pause(outagePauseMs, stopping);
        continue;
      }
      const durationMs = Math.round(performance.now() - startedAt);
      const fields = { pool, job: job.name, ...job.data, outcome: 'error', durationMs, error: described };
      ctx.log.error(fields, 'job failed');
      throw new Error([described.name, described.code].join(' ').trim());
    }
  }
}

const notDelivered = new Set(['failed', 'timeout', 'blocked']);

/**
 * Throws for an event or mail that was not delivered, so that a developer finds its job in BullMQ's list of failed
 * jobs. It has no other effect: the outcome is already recorded, the next event already has its job, and BullMQ does
 * not retry. The message contains only our own words and codes (`failed: 500 status`).
 */
export function throwIfNotDelivered({ result, httpStatus, reason }: FinishedRun): void {
  if (!notDelivered.has(result)) return;
  const why = [httpStatus, reason].filter(Boolean).join(' ');
  const error = new UnrecoverableError(why ? `${result}: ${why}` : result);
  // Replaces the stack, which BullMQ stores too and which says nothing about the receiver.
  error.stack = error.message;
  throw error;
}
