import type { Context } from '../../shared/base/context.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { deliveriesPostponed } from '../../shared/base/metrics.ts';
import type { AttemptJob, DeliveryJob } from '../../shared/base/queues.ts';
import { pause } from '../abort-signal.ts';
import type { Run, RunAgain } from '../handler.ts';
import type { HeldClaim } from './claim.ts';

/** The reason of an attempt that needs a SECRETS_KEY which this process does not have. */
export const secretsKeyMissing = 'secrets_key_missing';

const pauseMs = 1_000;
const longestBackoffMs = 300_000;
const reportEveryMs = 60_000;
const reports = new WeakMap<Logger, Map<string, number>>();

/**
 * Releases the claim and runs the job again after a second, in which the run keeps its place: every other job of this process
 * would meet the same fault.
 */
export async function retryInPlace(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  run: Run,
  reason: string,
  held?: HeldClaim,
): Promise<RunAgain> {
  report(ctx.log, reason, job);
  await held?.release();
  await pause(pauseMs, run.stopping);
  return { againInMs: 0, why: reason };
}

/**
 * Leaves a job to other processes while MongoDB's clock and this host's differ: receivers would reject the signatures of at
 * least one of them. The event waits until they agree.
 */
export const waitForClocks = (
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  run: Run,
  held?: HeldClaim,
): Promise<RunAgain> => retryInPlace(ctx, job, run, 'clocks_differ', held);

/** Runs the job again after its backoff, in which no run tries, since the claim stays. */
export async function retryUnderClaim(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  held: HeldClaim,
  reason: string,
  againInMs: number,
): Promise<RunAgain> {
  report(ctx.log, reason, job);
  await held.extend(againInMs);
  return { againInMs, why: reason };
}

/** The time until the next try: the age of the event or resend, but at least `leastMs` and at most 5 min. */
export const backoffMs = (ageMs: number, leastMs: number): number =>
  Math.min(Math.max(ageMs, leastMs), longestBackoffMs);

/** Every event may meet the same fault, so each reason is logged once a minute, with the first event of that minute. */
function report(log: Logger, reason: string, job: DeliveryJob | AttemptJob): void {
  deliveriesPostponed.inc({ reason });
  const now = performance.now();
  const reportedAt = reports.get(log) ?? new Map<string, number>();
  reports.set(log, reportedAt);
  if (now - (reportedAt.get(reason) ?? -reportEveryMs) < reportEveryMs) return;
  reportedAt.set(reason, now);
  log.error({ ...job, reason }, 'events wait for what this process lacks');
}
