import type { Context } from '../../shared/base/context.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { deliveriesPostponed } from '../../shared/base/metrics.ts';
import type { AttemptJob, DeliveryJob } from '../../shared/base/queues.ts';
import { timeOf } from '../../shared/rides/events.ts';
import { pause } from '../abort-signal.ts';
import type { JobResult, Run } from '../handler.ts';
import { type Claimed, extendClaim, releaseClaim } from './claim.ts';

/** The reason of an attempt that needs a SECRETS_KEY which this process does not have. */
export const secretsKeyMissing = 'secrets_key_missing';
const clocksDiffer = 'clocks_differ';

/** An event that local faults keep from an attempt is postponed for 24 h at most; then its delivery counts as failed. */
const maxAgeMs = 24 * 3_600_000;

const localFaultPauseMs = 1_000;
const reportEveryMs = 60_000;
const reports = new WeakMap<Logger, Map<string, number>>();

export const mayPostpone = (claimed: Claimed): boolean => ageMs(claimed) < maxAgeMs;

/**
 * Postpones an attempt that a local fault prevented: that is no outcome of the delivery. A missing SECRETS_KEY comes with a
 * restart: the event waits under its claim and the job ends its run. Descriptors, ports and the like become free by
 * themselves: the run pauses and keeps its place, since every other job of this process would meet the same fault.
 */
export async function postpone(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  claimed: Claimed,
  reason = 'unknown',
): Promise<JobResult> {
  report(ctx.log, reason, job);
  if (reason === secretsKeyMissing) {
    const againInMs = backoffMs(claimed);
    await extendClaim(job.rideId, run.token, againInMs);
    return { againInMs, why: reason };
  }
  await releaseClaim(job.rideId, run.token);
  await pause(localFaultPauseMs, run.stopping);
  return { againInMs: 0, why: reason };
}

/**
 * Leaves a job to other processes while MongoDB's clock and this host's differ: receivers would reject the signatures of at
 * least one of them. The event waits until they agree.
 */
export async function waitForClocks(ctx: Context, job: DeliveryJob | AttemptJob, run: Run): Promise<JobResult> {
  report(ctx.log, clocksDiffer, job);
  await pause(localFaultPauseMs, run.stopping);
  return { againInMs: 0, why: clocksDiffer };
}

/**
 * Postpones an event whose attempt was made but could not be recorded. The sweeper adds its job again when the claim
 * expires, at growing intervals, because the receiver is then called again.
 */
export async function postponeUnrecorded(job: DeliveryJob, run: Run, claimed: Claimed): Promise<JobResult> {
  if (!run.stopping.aborted) await extendClaim(job.rideId, run.token, backoffMs(claimed)).catch(() => {});
  return { result: 'not recorded' };
}

/** How old the event was at the time of the claim (ms), by MongoDB's clock. */
const ageMs = ({ claim, event }: Claimed): number => claim.at.getTime() - timeOf(event).getTime();

/** The time until the next try: the age of the event, but at least 15 s and at most 5 min. */
const backoffMs = (claimed: Claimed): number => Math.min(Math.max(ageMs(claimed), 15_000), 300_000);

/** Every event may meet the same fault, so each reason is logged once a minute, with the first event of that minute. */
export function report(log: Logger, reason: string, event: DeliveryJob | AttemptJob): void {
  deliveriesPostponed.inc({ reason });
  const now = performance.now();
  const reportedAt = reports.get(log) ?? new Map<string, number>();
  reports.set(log, reportedAt);
  if (now - (reportedAt.get(reason) ?? -reportEveryMs) < reportEveryMs) return;
  reportedAt.set(reason, now);
  log.error({ ...event, reason }, 'events wait for what this process lacks');
}
