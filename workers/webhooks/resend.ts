import type { Context } from '../../shared/base/context.ts';
import { eventId, withdrawnEventId } from '../../shared/base/ids.ts';
import { countDelivery } from '../../shared/base/metrics.ts';
import { clocksDiffer } from '../../shared/base/mongo/clock.ts';
import { exists } from '../../shared/base/mongo/collection.ts';
import type { AttemptJob } from '../../shared/base/queues.ts';
import { newTrace, type Trace, traceFields, waitUntilDrained } from '../../shared/outbound/trace.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Delivery, Ride, RideEvent } from '../../shared/rides/ride-types.ts';
import { enqueueNextRedeliveries, laneOf, nextRedeliveries } from '../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, attempts, eraseAttemptsOfErased } from '../../shared/webhooks/attempts.ts';
import { type FinishedRun, type JobResult, type Run, withLogLine } from '../handler.ts';
import { type AttemptReport, attempt, type OutgoingEvent, type SettingsOrOutcome } from './attempt.ts';
import { claimClock } from './claim.ts';
import { type ClaimedResend, claimResend, heldForMs, mayRedeliver, settleResend } from './claim-resend.ts';
import { backoffMs, retryUnderClaim, waitForClocks } from './postpone.ts';
import { settle } from './settle.ts';
import { markSlow } from './slow-lane.ts';

/** After this many tries without an outcome, a resend fails, because the resend itself may crash the process. */
const maxTries = 3;
/** A test event fails after this time, because nobody is waiting for its result anymore. */
const testMaxAgeMs = 10 * 60_000;
const redeliveryMaxAgeMs = 24 * 3_600_000;
const shortestBackoffMs = 1_000;
/** A throttled redelivery runs again after a random delay of at most this. */
const throttleMs = 1_000;

/** The outcome of a resend, and when its attempt started. */
type ResendDelivery = Omit<Delivery, 'at'> & { startedAt: Date };

/**
 * Makes one resend: an attempt that a person requested, for a test event or for an event that was sent before; or the
 * one attempt of an event for a further endpoint. It works like the automatic attempt of an event, but has its own claim
 * and does not change the ride. Those of a ride for one destination run in order: each one adds the job of the next when
 * it finishes. `readSettings` resolves with the
 * settings of the key.
 */
export async function resend(
  ctx: Context,
  job: AttemptJob,
  run: Run,
  readSettings: () => Promise<SettingsOrOutcome>,
): Promise<JobResult> {
  const { attemptId, keyId } = job;
  const asked = await attempts.findOne(
    { _id: attemptId },
    { projection: { rideId: 1, endpointId: 1, kind: 1, state: 1 } },
  );
  const rideId = asked?.rideId;
  if (!asked || asked.state === 'done') return finish(ctx, rideId, { result: 'done' });
  if (rideId !== undefined && !(await isNext(asked, rideId))) return { result: 'not_its_turn' };

  const settings = await readSettings();
  const isThrottled = asked.kind === 'redelivery' && !('outcome' in settings);
  if (isThrottled && !(await mayRedeliver(keyId))) return { againInMs: Math.random() * throttleMs, why: 'throttled' };
  const claimed = await claimResend(attemptId, run.token, claimClock(ctx));
  if (!claimed) {
    const remainingMs = await heldForMs(attemptId, claimClock(ctx));
    if (remainingMs === null) return finish(ctx, rideId, { result: 'done' });
    return { againInMs: Math.max(100, remainingMs), why: 'held by another run' };
  }
  if (clocksDiffer(claimed.claim.at.getTime())) return waitForClocks(ctx, job, run, claimed);

  const trace = newTrace();
  const outgoing = await outgoingOrReason(claimed, settings);
  const made: AttemptReport =
    'reason' in outgoing
      ? { outcome: 'failed', reason: outgoing.reason, durationMs: 0 }
      : await attempt(ctx, outgoing, claimed, settings, trace);
  if (made.outcome === 'lost') return { againInMs: 100, why: 'claim lost' };
  if (made.outcome === 'unable' && !isTooOld(claimed)) {
    // A local fault is not an outcome: the resend is retried with a growing backoff.
    return retryUnderClaim(ctx, job, claimed, made.reason ?? 'unknown', backoffMs(ageMs(claimed), shortestBackoffMs));
  }

  const outcome = made.outcome === 'unable' ? 'failed' : made.outcome;
  const delivery = { ...made, outcome, startedAt: claimed.claim.at };
  await waitUntilDrained(trace);
  if (!(await record(ctx, job, run, delivery, outgoing.body, trace))) return { result: 'not recorded' };
  // If the ride was erased during the attempt, the attempt must be erased too. If this fails, the retention erases it
  // later.
  if (rideId !== undefined) await eraseAttemptsOfErased([rideId]).catch(() => {});
  const result = report(ctx, job, run, claimed.record, delivery);
  if (outcome === 'timeout') await markSlow(ctx, job.endpointId ?? keyId);
  return finish(ctx, rideId, result);
}

const isNext = async (asked: Pick<AttemptRecord, '_id' | 'rideId' | 'endpointId'>, rideId: string): Promise<boolean> =>
  (await nextRedeliveries([rideId])).get(laneOf(asked))?._id === asked._id;

/** The event to send, or the reason why the resend fails without an attempt. */
async function outgoingOrReason(
  claimed: ClaimedResend,
  settings: SettingsOrOutcome,
): Promise<OutgoingEvent | { reason: string; body?: never }> {
  const { record } = claimed;
  if (record.tries !== undefined && record.tries > maxTries) return { reason: 'interrupted' };
  if (isTooOld(claimed) && !('outcome' in settings)) return { reason: 'too_late' };
  return (await outgoingOf(record)) ?? { reason: 'body_erased' };
}

/** The event to send, or null if its body was erased. */
async function outgoingOf(record: AttemptRecord): Promise<OutgoingEvent | null> {
  const { _id, keyId, endpointId, kind, event, body, rideId, seq, offerId, requestId } = record;
  const asked = { keyId, endpointId, event, rideId, requestId };
  if (rideId && offerId) {
    const isErased = await exists(rides, { _id: rideId, erasedAt: { $exists: true } });
    return body && !isErased ? { ...asked, eventId: withdrawnEventId(rideId, offerId), body } : null;
  }
  if (kind === 'test' || rideId === undefined || seq === undefined) {
    return body ? { ...asked, eventId: eventId(_id, 1), seq: 1, body, mark: { 'X-Service-Test': 'true' } } : null;
  }
  const ride = await rides.findOne<Pick<Ride, 'webhookUrl'> & { events: Pick<RideEvent, 'body'>[] }>(
    { _id: rideId, 'events.seq': seq },
    { projection: { webhookUrl: 1, 'events.$': 1 } },
  );
  const eventAsSent = { ...asked, eventId: eventId(rideId, seq), seq, body: ride?.events[0]?.body ?? '' };
  if (!eventAsSent.body) return null;
  return {
    ...eventAsSent,
    // The URL of a ride replaces only the key's default one.
    ...(!endpointId && { webhookUrl: ride?.webhookUrl }),
    ...(kind === 'redelivery' && { mark: { 'X-Service-Redelivery': 'true' } }),
  };
}

/** The time since the resend was requested or due (ms). */
const ageMs = ({ record, claim }: ClaimedResend): number => claim.at.getTime() - record.at.getTime();

const isTooOld = (claimed: ClaimedResend): boolean =>
  ageMs(claimed) > (claimed.record.kind === 'test' ? testMaxAgeMs : redeliveryMaxAgeMs);

/**
 * Records the outcome with the request and the answer. If MongoDB refuses that, records only the reason `unrecordable`.
 * Resolves with null if nothing was recorded.
 */
function record(
  ctx: Context,
  job: AttemptJob,
  run: Run,
  delivery: ResendDelivery,
  body: string | undefined,
  trace: Trace,
): Promise<object | null> {
  const { durationMs, startedAt } = delivery;
  const whole = { ...delivery, ...(body !== undefined && { body }), ...traceFields(trace, delivery.outcome) };
  const unrecordable = { outcome: 'failed', reason: 'unrecordable', durationMs, startedAt } as const;
  const writes = [whole, unrecordable].map((outcome) => ({
    fields: { outcome: outcome.outcome },
    write: () => settleResend(job.attemptId, run.token, outcome),
  }));
  return settle(ctx, job, run, 'MongoDB refuses the outcome of an attempt', writes);
}

/** Counts and logs a recorded resend. */
function report(
  { log }: Context,
  job: AttemptJob,
  { pool }: Run,
  { kind, event, rideId, seq, requestId }: AttemptRecord,
  { outcome, reason, httpStatus, durationMs }: ResendDelivery,
): FinishedRun {
  countDelivery(kind, pool, { outcome, durationMs });
  const fields = { requestId, ...job, kind, rideId, seq, event, outcome, reason, httpStatus, durationMs, pool };
  return withLogLine(
    log,
    { result: outcome, event, httpStatus, reason, durationMs },
    fields,
    kind === 'event' ? 'delivery' : 'manual attempt',
  );
}

/**
 * Adds the job of the ride's next redelivery. Does so even if this redelivery was already done, because the run that
 * finished it may have been interrupted before it added the job.
 */
async function finish(ctx: Context, rideId: string | undefined, result: JobResult): Promise<JobResult> {
  if (rideId !== undefined) await enqueueNextRedeliveries(ctx, [rideId]);
  return result;
}
