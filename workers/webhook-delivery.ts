import { setTimeout } from 'node:timers/promises';
import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { eventId } from '../shared/ids.ts';
import { deliverySettings } from '../shared/keys/manage-keys.ts';
import type { DeliveryJob } from '../shared/queues.ts';
import { enqueueNextDelivery, type Outbox } from '../shared/rides/outbox.ts';
import { type Delivery, type DeliveryOutcome, rides } from '../shared/rides/ride.ts';
import {
  type Claimed,
  claimEvent,
  deliveryStanding,
  loggedUrl,
  releaseClaim,
  settleEvent,
} from '../shared/webhooks/delivery.ts';
import { send } from '../shared/webhooks/send.ts';
import { signatureHeader } from '../shared/webhooks/sign.ts';
import { isSlow, markSlow } from '../shared/webhooks/slow-keys.ts';
import { enterFastLane } from './fast-lane.ts';
import type { Handler, Outcome, Run } from './handler.ts';

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

async function deliver(ctx: Context, job: DeliveryJob, run: Run): Promise<Outcome> {
  const claimed = await claimEvent(job.rideId, job.seq, run.token);
  if (!claimed) return withoutClaim(ctx, job);
  const delivery = await attempt(ctx, claimed, run);
  if (!delivery) {
    await releaseClaim(job.rideId, run.token);
    return withoutClaim(ctx, job);
  }
  const outbox = await settle(ctx, job, run, delivery);
  const { outcome, httpStatus, durationMs } = delivery;
  ctx.log.info({ ...job, event: claimed.event.event, outcome, httpStatus, durationMs, pool: run.pool }, 'delivery');
  if (outcome === 'timeout') await markSlow(ctx, job.keyId);
  if (outbox) await enqueueNextDelivery(ctx, outbox);
  return { result: outcome, event: claimed.event.event, httpStatus, durationMs };
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

/** How the attempt went, or null where the claim was lost before a byte was written. */
async function attempt(ctx: Context, claimed: Claimed, run: Run): Promise<Delivery | null> {
  const { ride, event } = claimed;
  let { webhookUrl, signingSecret } = await deliverySettings(ctx.config, ride.keyId);
  const url = ride.webhookUrl ?? webhookUrl;
  const at = claimed.claim.at;
  if (!url) return { outcome: 'no_url', durationMs: 0, at };

  const held = heldClaim(claimed, run.token);
  const sent = await send({
    url,
    body: event.body,
    localTargets: ctx.config.webhookLocalTargets,
    headersNow: () => {
      const claim = held.fresh();
      return claim && deliveryHeaders(claimed, signatureHeader(signingSecret, event.body, unixSeconds(claim.at)));
    },
    renewClaim: async () => {
      const isOurs = await held.renew();
      // Connecting took its time: a secret that was rolled meanwhile holds for this very delivery.
      if (isOurs) ({ signingSecret } = await deliverySettings(ctx.config, ride.keyId));
      return isOurs;
    },
  });
  if (sent.outcome === 'lost') return null;
  const { outcome, httpStatus, reason, durationMs } = sent;
  return {
    outcome: outcome satisfies DeliveryOutcome,
    url: loggedUrl(url),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
    durationMs,
    at,
  };
}

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

function deliveryHeaders({ ride, event }: Claimed, signature: string): Record<string, string> {
  return {
    'X-Service-Event': event.event,
    'X-Service-Signature': signature,
    'X-Service-Event-Id': eventId(ride._id, event.seq),
    'X-Service-Sequence': String(event.seq),
  };
}

/**
 * The claim as this process knows it. It is fresh for a second after it was asked for, by the larger of both clocks:
 * the monotonic one stands still while a machine sleeps, the other one can be set back.
 */
function heldClaim(claimed: Claimed, token: string) {
  const maxAgeMs = 1_000;
  let { claim } = claimed;
  let askedAt = claimed.askedAt;
  return {
    fresh: () => {
      const age = Math.max(performance.now() - askedAt.monotonic, Date.now() - askedAt.wall);
      return age <= maxAgeMs ? claim : null;
    },
    renew: async () => {
      const renewed = await claimEvent(claimed.ride._id, claimed.event.seq, token);
      if (renewed) ({ claim, askedAt } = renewed);
      return renewed !== null;
    },
  };
}

/**
 * Tries until MongoDB has answered: what was sent must be recorded, or it is sent again. Resolves with the ride's outbox
 * also where this run's own first try had arrived and only its answer was lost.
 */
async function settle(
  ctx: Context,
  { rideId, seq }: DeliveryJob,
  run: Run,
  delivery: Delivery,
): Promise<Outbox | null> {
  for (;;) {
    try {
      const settled = await settleEvent(rideId, seq, run.token, delivery);
      return (
        settled ?? (await rides.findOne<Outbox>({ _id: rideId }, { projection: { keyId: 1, seq: 1, settledSeq: 1 } }))
      );
    } catch (error) {
      ctx.log.debug({ rideId, seq, error: describeError(error) }, 'outcome not recorded yet');
      await setTimeout(250);
    }
  }
}
