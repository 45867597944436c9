import type { Context } from '../../shared/base/context.ts';
import { eventId } from '../../shared/base/ids.ts';
import { countDelivery, firstByte } from '../../shared/base/metrics.ts';
import { clocksDiffer } from '../../shared/base/mongo/clock.ts';
import type { DeliveryJob } from '../../shared/base/queues.ts';
import { newTrace, type Trace } from '../../shared/outbound/trace.ts';
import { timeOf } from '../../shared/rides/events.ts';
import { enqueueNextDelivery } from '../../shared/rides/ride-jobs.ts';
import type { Delivery } from '../../shared/rides/ride-types.ts';
import { copiedEvent, requestIdOf, storeCopies } from '../../shared/webhooks/copies-of-event.ts';
import { type FinishedRun, type JobResult, type Run, withLogLine } from '../handler.ts';
import { attempt, mayHaveEndpoints, type OutgoingEvent, type SettingsOrOutcome } from './attempt.ts';
import { claimClock } from './claim.ts';
import { type ClaimedEvent, claimEvent, deliveryState } from './claim-event.ts';
import { backoffMs, retryInPlace, retryUnderClaim, secretsKeyMissing, waitForClocks } from './postpone.ts';
import { noteOutcome } from './report/account-outcomes.ts';
import { recordAttempt } from './report/attempt-log.ts';
import { noteDelivery } from './report/health-log.ts';
import { recordDelivery } from './settle-event.ts';
import { markSlow } from './slow-lane.ts';

/** A local fault postpones an event for at most 24 h. After that, the delivery is recorded as failed. */
const maxPostponedMs = 24 * 3_600_000;
const shortestBackoffMs = 15_000;

/**
 * Makes one attempt to deliver one event (contract, section 6): claims the event, sends it, records the outcome and
 * adds the next event's job. An attempt with a recorded outcome is never repeated. `readSettings` resolves
 * with the settings of the key.
 */
export async function deliverEvent(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  readSettings: () => Promise<SettingsOrOutcome>,
): Promise<JobResult> {
  const { rideId, keyId, seq } = job;
  const settings = await readSettings();
  const claimed = await claimEvent(rideId, seq, run.token, claimClock(ctx));
  if (!claimed) return finishUnclaimed(ctx, job);
  if (clocksDiffer(claimed.claim.at.getTime())) return waitForClocks(ctx, job, run, claimed);

  await storeCopiesOf(ctx, claimed, settings);

  const trace = newTrace();
  // Both attempts are made at the same time, so that a run does not take longer than 8 s.
  const [made] = await Promise.all([
    attempt(ctx, outgoingOf(claimed), claimed, settings, trace),
    isDuplicated(claimed) && attempt(ctx, outgoingOf(claimed), withoutRelease(claimed), settings, newTrace()),
  ]);
  if (made.outcome === 'lost') return finishUnclaimed(ctx, job);
  if (made.outcome === 'unable' && ageMs(claimed) < maxPostponedMs)
    return postpone(ctx, job, run, claimed, made.reason);

  const outcome = made.outcome === 'unable' ? 'failed' : made.outcome;
  const isLast = claimed.ride.seq === seq;
  const recorded = await recordDelivery(ctx, job, run, { ...made, outcome, at: claimed.claim.at }, { isLast });
  if (!recorded) return postponeUnrecorded(run, claimed);
  const { delivery, outbox } = recorded;
  const result = report(ctx, job, run, claimed, delivery, trace);
  noteDelivery(ctx, keyId, delivery, 'isFailing' in settings);
  noteOutcome(claimed.ride, delivery);
  if (delivery.outcome === 'timeout') await markSlow(ctx, keyId);
  if (outbox) await enqueueNextDelivery(ctx, outbox);
  return result;
}

/**
 * Stores a copy of a claimed event for each further endpoint that wants it (contract, section 10.22). Call it between
 * the claim and the attempt: so an event is settled only after its copies are stored, and a run that takes over a dead
 * claim stores the same copies again. Throws if MongoDB is unavailable; the event then waits until its claim expires.
 */
export async function storeCopiesOf(
  ctx: Context,
  { ride, event }: ClaimedEvent,
  settings: SettingsOrOutcome,
): Promise<void> {
  if (mayHaveEndpoints(settings)) await storeCopies(ctx, ride, [copiedEvent(ride, event)]);
}

/** True for the second event of a ride in the test scenario `duplicate_event`, which is sent twice. */
const isDuplicated = ({ ride, event }: ClaimedEvent): boolean => ride.scenario === 'duplicate_event' && event.seq === 2;

/** The second attempt must not end the claim of the first one, whose outcome is recorded. */
const withoutRelease = (claimed: ClaimedEvent): ClaimedEvent => ({ ...claimed, release: async () => {} });

function outgoingOf(claimed: ClaimedEvent): OutgoingEvent {
  const { _id: rideId, keyId, webhookUrl } = claimed.ride;
  const { event, seq, body } = claimed.event;
  const requestId = requestIdOf(claimed.ride, claimed.event);
  return { requestId, rideId, keyId, event, eventId: eventId(rideId, seq), seq, body, webhookUrl };
}

/** Counts and logs a recorded delivery. */
function report(
  ctx: Context,
  job: DeliveryJob,
  { pool }: Run,
  claimed: ClaimedEvent,
  delivery: Delivery,
  trace: Trace,
): FinishedRun {
  const { event } = claimed.event;
  const { outcome, reason, httpStatus, durationMs } = delivery;
  countDelivery('event', pool, delivery);
  if (trace.writtenAt !== null) {
    const agoMs = performance.now() - trace.writtenAt;
    firstByte.observe({ pool }, Math.max(0, ctx.now() - agoMs - timeOf(claimed.event).getTime()) / 1_000);
  }
  recordAttempt(ctx, claimed, delivery, trace);
  const fields = {
    requestId: requestIdOf(claimed.ride, claimed.event),
    ...job,
    event,
    outcome,
    reason,
    httpStatus,
    durationMs,
    pool,
  };
  return withLogLine(ctx.log, { result: outcome, event, httpStatus, reason, durationMs }, fields, 'delivery');
}

async function finishUnclaimed(ctx: Context, { rideId, seq }: DeliveryJob): Promise<JobResult> {
  const delivery = await deliveryState(rideId, seq, claimClock(ctx));
  switch (delivery.state) {
    case 'held':
      return { againInMs: delivery.remainingMs, why: 'held by another run' };
    case 'held ahead':
      return { againInMs: delivery.remainingMs, why: "held by another run, by a clock ahead of MongoDB's" };
    case 'free':
      return { againInMs: 100, why: 'just released by another run' };
    case 'waits for the next ride':
      return { againInMs: backoffMs(delivery.forMs, 100), why: 'the next ride does not exist yet' };
    case 'settled':
      // Adds the next event's job even if another run settled this event: that run may have crashed before it added the
      // job.
      if (delivery.outbox) await enqueueNextDelivery(ctx, delivery.outbox);
      return { result: 'settled' };
    case 'not_its_turn':
    case 'held_ride':
      return { result: delivery.state };
  }
}

/**
 * Postpones an event whose attempt was prevented by a local fault, which is not an outcome. A missing SECRETS_KEY lasts
 * until a restart, so the job backs off. Other faults (no free descriptors or ports) are short, so the job retries
 * soon.
 */
function postpone(ctx: Context, job: DeliveryJob, run: Run, claimed: ClaimedEvent, reason = 'unknown') {
  if (reason !== secretsKeyMissing) return retryInPlace(ctx, job, run, reason, claimed);
  return retryUnderClaim(ctx, job, claimed, reason, backoffMs(ageMs(claimed), shortestBackoffMs));
}

/**
 * Postpones an event whose attempt was made but not recorded. The sweeper adds the event's job again when the claim
 * expires. The delay grows, because each new attempt sends the event to the receiver again.
 */
async function postponeUnrecorded({ stopping }: Run, claimed: ClaimedEvent): Promise<JobResult> {
  if (!stopping.aborted) await claimed.extend(backoffMs(ageMs(claimed), shortestBackoffMs)).catch(() => {});
  return { result: 'not recorded' };
}

/** The event's age when it was claimed (ms), by MongoDB's clock. */
const ageMs = ({ claim, event }: ClaimedEvent): number => claim.at.getTime() - timeOf(event).getTime();
