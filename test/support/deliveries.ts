import assert from 'node:assert/strict';
import { accountOf } from '../../shared/accounts/account.ts';
import type { Context } from '../../shared/context.ts';
import { randomBase62 } from '../../shared/ids.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import type { DeliveryJob } from '../../shared/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { verifySignature } from '../../shared/webhooks/sign.ts';
import type { Run } from '../../workers/handler.ts';
import { deliverAttempt } from '../../workers/webhooks/deliver-attempt.ts';
import { deliverEvent } from '../../workers/webhooks/deliver-event.ts';
import type { Receipt } from './receiver.ts';

/** The context with these local targets: a receiver's port is known only once it listens. */
export const withTargets = (ctx: Context, ...webhookLocalTargets: string[]): Context => ({
  ...ctx,
  config: { ...ctx.config, webhookLocalTargets },
});

export async function newKey(ctx: Context, webhookUrl?: string): Promise<NewKey> {
  const account = await accountOf('deliveries@rides.example');
  return createKey(ctx.config, { accountId: account._id, name: 'test', mode: 'live', webhookUrl });
}

/** Runs the job of one event once, as a worker does. The default token is new for each run. */
export async function deliver(ctx: Context, rideId: string, seq: number, run: Partial<Run> = {}) {
  const keyId = (await rides.findOne({ _id: rideId }, { projection: { keyId: 1 } }))?.keyId ?? '';
  const job: DeliveryJob = { rideId, keyId, seq };
  return deliverEvent(ctx, job, {
    pool: 'webhooks',
    token: randomBase62(12),
    stopping: new AbortController().signal,
    ...run,
  });
}

/** Runs the job of an attempt by hand once, as a worker does. */
export async function deliverByHand(ctx: Context, attemptId: string, run: Partial<Run> = {}) {
  const keyId = (await attempts.findOne({ _id: attemptId }))?.keyId ?? '';
  return deliverAttempt(
    ctx,
    { attemptId, keyId },
    { pool: 'webhooks', token: randomBase62(12), stopping: new AbortController().signal, ...run },
  );
}

/** Whether a receipt is signed with the secret, as a partner checks it. */
export function isSignedWith(secret: string, receipt: Receipt | undefined): boolean {
  if (!receipt) throw new Error('nothing was received');
  const header = String(receipt.headers['x-service-signature']);
  return verifySignature(secret, header, receipt.raw, Math.floor(Date.now() / 1_000));
}

/** While `run` runs, the limit of 8 s of an attempt is 50 ms. That the limit is 8 s is tested with the sender. */
export async function withShortDeadline<T>(run: () => Promise<T>): Promise<T> {
  const { setTimeout } = globalThis;
  let shortened = 0;
  globalThis.setTimeout = ((callback: () => void, ms: number, ...rest: []) => {
    const isLimit = ms >= 8_000 && ms < 8_010;
    if (isLimit) shortened += 1;
    return setTimeout(callback, isLimit ? 50 : ms, ...rest);
  }) as typeof setTimeout;
  try {
    return await run();
  } finally {
    globalThis.setTimeout = setTimeout;
    // Without a shortened limit the test would take 8 s without a visible reason.
    assert(shortened > 0, 'no attempt set its limit of 8 s');
  }
}

type Update = typeof rides.findOneAndUpdate;

/**
 * Calls `happens` between the next update of a ride whose filter has this field and its answer. Where `happens` throws, the
 * update was made and its answer is lost. Only claims filter by `$expr`, only settlings by `events.seq`.
 */
export function beforeTheAnswer(field: string, happens: (ride: Ride) => unknown): void {
  const { findOneAndUpdate } = rides;
  rides.findOneAndUpdate = (async (...args: Parameters<Update>) => {
    const answer = await Reflect.apply(findOneAndUpdate, rides, args);
    if (field in (args[0] as object)) {
      rides.findOneAndUpdate = findOneAndUpdate;
      await happens(answer as Ride);
    }
    return answer;
  }) as Update;
}
