import { pause } from '../../shared/base/abort-signal.ts';
import type { Context } from '../../shared/base/context.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { deliveriesPostponed } from '../../shared/base/metrics.ts';
import type { AttemptJob, DeliveryJob } from '../../shared/base/queues.ts';
import type { Mode } from '../../shared/base/terms.ts';
import type { Run, RunAgain } from '../handler.ts';
import type { HeldClaim } from './claim.ts';

/** The reason for an attempt that was not made because this process lacks the SECRETS_KEY of the signing secret. */
export const secretsKeyMissing = 'secrets_key_missing';

const pauseMs = 1_000;
const longestBackoffMs = 300_000;
const reportIntervalMs = 60_000;
const reportTimes = new WeakMap<Logger, Map<string, number>>();

/** A claimed event has a ride, a claimed resend a record. */
type Claimed = HeldClaim & { ride?: { mode: Mode }; record?: { mode: Mode } };

/**
 * Releases the claim and runs the job again after a second. The job stays active during that second and so keeps its
 * place in the pool, because another job would meet the same fault.
 */
export async function retryInPlace(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  run: Run,
  reason: string,
  held?: Claimed,
): Promise<RunAgain> {
  report(ctx.log, reason, job, held);
  await held?.release();
  await pause(pauseMs, run.stopping);
  return { againInMs: 0, why: reason };
}

/**
 * Releases the claim and waits while the clocks of MongoDB and this host differ by too much. At least one of them is
 * wrong, and receivers would reject a signature with a wrong time.
 */
export const waitForClocks = (
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  run: Run,
  held?: Claimed,
): Promise<RunAgain> => retryInPlace(ctx, job, run, 'clocks_differ', held);

/** Runs the job again after a backoff. Extends the claim until then, so that no other run makes an attempt. */
export async function retryUnderClaim(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  held: Claimed,
  reason: string,
  againInMs: number,
): Promise<RunAgain> {
  report(ctx.log, reason, job, held);
  await held.extend(againInMs);
  return { againInMs, why: reason };
}

/** The backoff (ms): the age of the event or resend, but at least `leastMs` and at most 5 min. */
export const backoffMs = (ageMs: number, leastMs: number): number =>
  Math.min(Math.max(ageMs, leastMs), longestBackoffMs);

/**
 * Logs each reason at most once a minute, because every event may meet the same fault. The line names only the job that
 * met it first.
 */
function report(log: Logger, reason: string, job: DeliveryJob | AttemptJob, claimed?: Claimed): void {
  deliveriesPostponed.inc({ reason, mode: (claimed?.ride ?? claimed?.record)?.mode ?? 'none' });
  const now = performance.now();
  const reportedAt = reportTimes.get(log) ?? new Map<string, number>();
  reportTimes.set(log, reportedAt);
  if (now - (reportedAt.get(reason) ?? -reportIntervalMs) < reportIntervalMs) return;
  reportedAt.set(reason, now);
  log.error({ ...job, reason }, 'a fault in this process postpones events');
}
