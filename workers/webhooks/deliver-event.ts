import type { Context } from '../../shared/context.ts';
import type { DeliveryJob } from '../../shared/queues.ts';
import { enqueueNextDelivery } from '../../shared/rides/outbox.ts';
import type { Handler, JobResult, Run } from '../handler.ts';
import { attempt, deliverySettingsOf } from './attempt.ts';
import { type Claimed, claimEvent, deliveryState, releaseClaim } from './claim.ts';
import { mayPostpone, postpone, postponeUnrecorded } from './postpone.ts';
import { type Settled, settle } from './settle.ts';
import { enterFastLane, markSlow } from './slow-lane.ts';

/**
 * One attempt to deliver one event (contract, section 6): claim the event, send it, record how that went, and add the next
 * event's job. An attempt whose outcome is recorded is never repeated.
 */
export const deliverEvent: Handler<DeliveryJob> = async (ctx, job, run) => {
  if (run.pool === 'webhooks-slow') return deliver(ctx, job, run);
  const place = await enterFastLane(ctx, job.keyId);
  if (!place) return moveToSlowLane(ctx, job);
  try {
    return await deliver(ctx, job, run);
  } finally {
    place.leave();
  }
};

/**
 * Reads the settings before the claim: a slow MongoDB then does not use up the time in which a request may be written under
 * the claim. A secret that was rolled before the run began is used. When connecting takes over a second, the secret is read
 * again, so that a roll in that time counts too (contract, section 6, rule 7).
 */
async function deliver(ctx: Context, job: DeliveryJob, run: Run): Promise<JobResult> {
  const settings = await deliverySettingsOf(ctx, job.keyId);
  const claimed = await claimEvent(job.rideId, job.seq, run.token);
  if (!claimed) return endWithoutClaim(ctx, job);

  const attempted = await attempt(ctx, claimed, settings, run);
  if (attempted.outcome === 'lost') {
    await releaseClaim(job.rideId, run.token);
    return endWithoutClaim(ctx, job);
  }
  if (attempted.outcome === 'unable' && mayPostpone(claimed)) {
    return postpone(ctx, job, run, claimed, attempted.reason);
  }
  const outcome = attempted.outcome === 'unable' ? 'failed' : attempted.outcome;

  const settled = await settle(ctx, job, run, { ...attempted, outcome, at: claimed.claim.at });
  if (!settled) return postponeUnrecorded(job, run, claimed);
  return finish(ctx, job, run, claimed, settled);
}

/** Logs the recorded delivery, marks a slow key, and adds the next event's job. */
async function finish(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  { event: { event } }: Claimed,
  { delivery: { outcome, reason, httpStatus, durationMs }, outbox }: Settled,
): Promise<JobResult> {
  ctx.log.info({ ...job, event, outcome, reason, httpStatus, durationMs, pool: run.pool }, 'delivery');
  if (outcome === 'timeout') await markSlow(ctx, job.keyId);
  if (outbox) await enqueueNextDelivery(ctx, outbox);
  return { result: outcome, event, httpStatus, reason, durationMs };
}

/** Moves the job before the event is claimed, so that the slow lane finds the event free. */
async function moveToSlowLane(ctx: Context, { rideId, keyId, seq }: DeliveryJob): Promise<JobResult> {
  await enqueueNextDelivery(ctx, { _id: rideId, keyId, settledSeq: seq - 1, seq }, 'webhooks-slow');
  return { result: 'handed to webhooks-slow' };
}

async function endWithoutClaim(ctx: Context, { rideId, seq }: DeliveryJob): Promise<JobResult> {
  const delivery = await deliveryState(rideId, seq);
  switch (delivery.state) {
    case 'held':
      return { againInMs: delivery.remainingMs, why: 'held by another run' };
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
