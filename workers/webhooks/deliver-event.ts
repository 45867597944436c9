import type { Context } from '../../shared/context.ts';
import type { DeliveryJob } from '../../shared/queues.ts';
import { enqueueNextDelivery } from '../../shared/rides/outbox.ts';
import { pause } from '../deadline.ts';
import type { Handler, Outcome, Run } from '../handler.ts';
import { type Attempted, attempt, secretsKeyMissing, settingsOf } from './attempt.ts';
import { type Claimed, claimEvent, deliveryStanding, keepClaim, releaseClaim } from './claim.ts';
import { enterFastLane } from './fast-lane.ts';
import { type Recorded, recordOutcome } from './record-outcome.ts';
import { isSlow, markSlow } from './slow-keys.ts';
import { backoffMs, mayWaitLonger, reportLack } from './wait-for-means.ts';

const lackPauseMs = 1_000;

/**
 * One attempt of one event (contract, section 6): claim it, send it, record how that went, and add the next one's job.
 * An attempt whose outcome is recorded is never repeated.
 */
export const deliverWebhook: Handler<DeliveryJob> = async (ctx, job, run) => {
  if (run.pool === 'webhooks-slow') return deliver(ctx, job, run);
  const place = (await isSlow(ctx, job.keyId)) ? null : enterFastLane(job.keyId);
  if (!place) return handToSlowLane(ctx, job);
  try {
    return await deliver(ctx, job, run);
  } finally {
    place.leave();
  }
};

/**
 * Settings first, the claim last: a slow MongoDB then does not use up the time in which a request may be written under the
 * claim. A secret that was rolled before the run began holds for its attempt; where connecting takes over a second it is
 * read again, so that a roll in that time holds as well (contract, section 6, rule 7).
 */
async function deliver(ctx: Context, job: DeliveryJob, run: Run): Promise<Outcome> {
  const settings = await settingsOf(ctx, job.keyId);
  const claimed = await claimEvent(job.rideId, job.seq, run.token);
  if (!claimed) return withoutClaim(ctx, job);
  const attempted = await attempt(ctx, claimed, settings, run);
  if (attempted.outcome === 'lost') {
    await releaseClaim(job.rideId, run.token);
    return withoutClaim(ctx, job);
  }
  if (attempted.outcome === 'unable' && mayWaitLonger(claimed)) return tryLater(ctx, job, run, claimed, attempted);
  const outcome = attempted.outcome === 'unable' ? 'failed' : attempted.outcome;

  const recorded = await recordOutcome(ctx, job, run, { ...attempted, outcome, at: claimed.claim.at });
  if (!recorded) return unrecorded(job, run, claimed);
  return goOn(ctx, job, run, claimed, recorded);
}

/** An event whose delivery is recorded makes the next one the oldest. */
async function goOn(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  { event: { event } }: Claimed,
  { delivery: { outcome, reason, httpStatus, durationMs }, outbox }: Recorded,
): Promise<Outcome> {
  ctx.log.info({ ...job, event, outcome, reason, httpStatus, durationMs, pool: run.pool }, 'delivery');
  if (outcome === 'timeout') await markSlow(ctx, job.keyId);
  if (outbox) await enqueueNextDelivery(ctx, outbox);
  return { result: outcome, event, httpStatus, reason, durationMs };
}

/**
 * What we lack is no outcome. A key of SECRETS_KEY comes with a restart, so that its events wait under their claim and take
 * no place. Descriptors, ports and the like come back by themselves: the place is held for a moment, since all jobs that
 * this process could take instead would meet the same.
 */
async function tryLater(
  ctx: Context,
  job: DeliveryJob,
  run: Run,
  claimed: Claimed,
  { reason = 'unknown' }: Attempted,
): Promise<Outcome> {
  reportLack(ctx.log, reason, job);
  if (reason === secretsKeyMissing) {
    const againInMs = backoffMs(claimed);
    await keepClaim(job.rideId, run.token, againInMs);
    return { againInMs, why: reason };
  }
  await releaseClaim(job.rideId, run.token);
  await pause(lackPauseMs, run.stopping);
  return { againInMs: 0, why: reason };
}

/** The sweeper brings it back when the claim lapses: later and later, because the receiver is then called again. */
async function unrecorded(job: DeliveryJob, run: Run, claimed: Claimed): Promise<Outcome> {
  if (!run.stopping.aborted) await keepClaim(job.rideId, run.token, backoffMs(claimed)).catch(() => {});
  return { result: 'not recorded' };
}

/** Before the claim, so that whoever takes it from the slow queue finds the event free. */
async function handToSlowLane(ctx: Context, { rideId, keyId, seq }: DeliveryJob): Promise<Outcome> {
  await enqueueNextDelivery(ctx, { _id: rideId, keyId, settledSeq: seq - 1, seq }, 'webhooks-slow');
  return { result: 'handed to webhooks-slow' };
}

async function withoutClaim(ctx: Context, { rideId, seq }: DeliveryJob): Promise<Outcome> {
  const standing = await deliveryStanding(rideId, seq);
  // Whoever has settled it may have ended before it added the next one's job.
  if (standing.state === 'settled' && standing.outbox) await enqueueNextDelivery(ctx, standing.outbox);
  if (standing.state === 'held') return { againInMs: standing.remainingMs, why: 'held by another run' };
  if (standing.state === 'free') return { againInMs: 100, why: 'just let go by another run' };
  return { result: standing.state };
}
