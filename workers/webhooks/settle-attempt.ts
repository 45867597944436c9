import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import type { AttemptJob } from '../../shared/base/queues.ts';
import type { DeliveryOutcome } from '../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
import { pause } from '../abort-signal.ts';
import type { Run } from '../handler.ts';
import type { Attempted } from './attempt.ts';
import { type Trace, traced } from './send/trace.ts';

const retryMs = 250;

/** An attempt that was made by hand, as it is recorded. */
type Made = Omit<Attempted, 'outcome'> & { outcome: DeliveryOutcome; startedAt: Date };

/**
 * Records the outcome of an attempt that is asked for by hand, and ends its claim. Retries through an outage of MongoDB until
 * the pool stops: then the claim lapses and the attempt is made again. Records less where MongoDB refuses what came.
 * Resolves with false when nothing is recorded.
 */
export async function settleAttempt(
  ctx: Context,
  job: AttemptJob,
  run: Run,
  made: Made,
  body: string | undefined,
  trace: Trace,
): Promise<boolean> {
  const { durationMs, startedAt } = made;
  const whole = { ...made, ...(body !== undefined && { body }), ...traced(trace, made.outcome) };
  for (const outcome of [whole, { outcome: 'failed', reason: 'unrecordable', durationMs, startedAt } as const]) {
    try {
      await settleUntilKnown(ctx, job, run, outcome);
      return true;
    } catch (error) {
      const fields = { ...job, outcome: outcome.outcome, error: describeError(error) };
      if (isOutageOfMongo(error)) {
        ctx.log.warn(fields, 'stopped before the outcome was recorded: the attempt will be made again');
        return false;
      }
      ctx.log.error(fields, 'MongoDB refuses the outcome of an attempt');
    }
  }
  return false;
}

/** No match means that an earlier try was written and its answer lost, or that another run has taken over: both are known. */
async function settleUntilKnown(
  ctx: Context,
  { attemptId }: AttemptJob,
  { token, stopping }: Run,
  outcome: Partial<AttemptRecord>,
): Promise<void> {
  for (;;) {
    try {
      const change = { $set: { ...outcome, state: 'done' as const }, $unset: { claim: '', dueAt: '' } } as const;
      await attempts.updateOne({ _id: attemptId, 'claim.token': token }, change);
      return;
    } catch (error) {
      if (!isOutageOfMongo(error) || stopping.aborted) throw error;
      ctx.log.debug({ attemptId, error: describeError(error) }, 'outcome not recorded yet');
      await pause(retryMs, stopping);
    }
  }
}
