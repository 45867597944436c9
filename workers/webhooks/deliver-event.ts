import type { Context } from '../../shared/base/context.ts';
import { eventId } from '../../shared/base/ids.ts';
import { countDelivery, firstByte } from '../../shared/base/metrics.ts';
import { clocksDiffer } from '../../shared/base/mongo/clock.ts';
import type { DeliveryJob } from '../../shared/base/queues.ts';
import { timeOf } from '../../shared/rides/events.ts';
import { enqueueNextDelivery } from '../../shared/rides/ride-jobs.ts';
import { type Handler, type JobResult, type Run, withLine } from '../handler.ts';
import { noteAhead } from './ahead.ts';
import { attempt, deliverySettingsOf, type Outgoing } from './attempt.ts';
import { type Claimed, claimClock, claimEvent, deliveryState, releaseClaim, renewableClaim } from './claim.ts';
import { mayPostpone, postpone, postponeUnrecorded, waitForClocks } from './postpone.ts';
import { recordAttempt } from './report/attempt-log.ts';
import { noteDelivery } from './report/health-log.ts';
import { newTrace, type Trace } from './send/trace.ts';
import { type Settled, settle } from './settle.ts';
import { inLane, markSlow } from './slow-lane.ts';

/**
 * One attempt to deliver one event (contract, section 6): claim the event, send it, record how that went, and add the next
 * event's job. An attempt whose outcome is recorded is never repeated.
 */
export const deliverEvent: Handler<DeliveryJob> = async (ctx, job, run) =>
  clocksDiffer(ctx.now())
    ? waitForClocks(ctx, job, run)
    : inLane(ctx, job.keyId, run, {
        deliver: () => deliver(ctx, job, run),
        moveToSlow: () => moveToSlowLane(ctx, job),
      });

/**
 * Reads the settings before the claim: a slow MongoDB then does not use up the time in which a request may be written under
 * the claim. Settings that are over 250 ms old when the request is to be written are read again (contract, section 6, rule 7).
 */
async function deliver(ctx: Context, job: DeliveryJob, run: Run): Promise<JobResult> {
  const settings = await deliverySettingsOf(ctx, job.keyId);
  const claimed = await claimEvent(job.rideId, job.seq, run.token, claimClock(ctx));
  if (!claimed) return endWithoutClaim(ctx, job);
  if (clocksDiffer(claimed.claim.at.getTime())) {
    await releaseClaim(job.rideId, run.token);
    return waitForClocks(ctx, job, run);
  }

  const trace = newTrace();
  const claim = renewableClaim(claimed, () => claimEvent(job.rideId, job.seq, run.token, claimClock(ctx)));
  const attempted = await attempt(ctx, outgoingOf(claimed), claim, settings, trace);
  if (attempted.outcome === 'lost') {
    await releaseClaim(job.rideId, run.token);
    return endWithoutClaim(ctx, job);
  }
  if (attempted.outcome === 'unable' && mayPostpone(claimed)) {
    return postpone(ctx, job, run, claimed, attempted.reason);
  }
  const outcome = attempted.outcome === 'unable' ? 'failed' : attempted.outcome;

  const isLast = claimed.ride.seq === job.seq;
  const settled = await settle(ctx, job, run, { ...attempted, outcome, at: claimed.claim.at }, { isLast });
  if (!settled) return postponeUnrecorded(job, run, claimed);
  count(ctx, run, claimed, settled, trace);
  recordAttempt(ctx, claimed, settled.delivery, trace);
  noteDelivery(ctx, job.keyId, settled.delivery, 'isFailing' in settings);
  return finish(ctx, job, run, claimed, settled);
}

const outgoingOf = ({ ride, event: { event, seq, body, requestId = ride.origin?.requestId } }: Claimed): Outgoing => ({
  requestId,
  rideId: ride._id,
  keyId: ride.keyId,
  event,
  eventId: eventId(ride._id, seq),
  seq,
  body,
  webhookUrl: ride.webhookUrl,
});

function count(ctx: Context, { pool }: Run, { event }: Claimed, { delivery }: Settled, { writtenAt }: Trace): void {
  countDelivery('event', pool, delivery);
  if (writtenAt === null) return;
  const agoMs = performance.now() - writtenAt;
  firstByte.observe({ pool }, Math.max(0, ctx.now() - agoMs - timeOf(event).getTime()) / 1_000);
}

/** Logs the recorded delivery, marks a slow key, and adds the next event's job. */
async function finish(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  { ride, event: { event, requestId = ride.origin?.requestId } }: Claimed,
  { delivery: { outcome, reason, httpStatus, durationMs }, outbox }: Settled,
): Promise<JobResult> {
  const fields = { requestId, ...job, event, outcome, reason, httpStatus, durationMs, pool: run.pool };
  const result = withLine(ctx.log, { result: outcome, event, httpStatus, reason, durationMs }, fields, 'delivery');
  if (outcome === 'timeout') await markSlow(ctx, job.keyId);
  if (outbox) await enqueueNextDelivery(ctx, outbox);
  return result;
}

const moveToSlowLane = (ctx: Context, { rideId, keyId, seq }: DeliveryJob): Promise<boolean> =>
  enqueueNextDelivery(ctx, { _id: rideId, keyId, settledSeq: seq - 1, seq }, 'webhooks-slow');

async function endWithoutClaim(ctx: Context, { rideId, seq }: DeliveryJob): Promise<JobResult> {
  const delivery = await deliveryState(rideId, seq, claimClock(ctx));
  switch (delivery.state) {
    case 'held':
      return { againInMs: delivery.remainingMs, why: 'held by another run' };
    case 'held ahead':
      return {
        againInMs: noteAhead(rideId, delivery.claim),
        why: "held by another run, by a clock ahead of MongoDB's",
      };
    case 'free':
      return { againInMs: 100, why: 'just let go by another run' };
    case 'settled':
      // The run that settled the event may have crashed before it added the next event's job.
      if (delivery.outbox) await enqueueNextDelivery(ctx, delivery.outbox);
      return { result: 'settled' };
    case 'not_its_turn':
      return { result: 'not_its_turn' };
  }
}
