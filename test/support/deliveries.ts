import assert from 'node:assert/strict';
import { accountOf } from '../../shared/accounts/account.ts';
import type { Context } from '../../shared/base/context.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import type { DeliveryJob } from '../../shared/base/queues.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { verifySignature } from '../../shared/webhooks/sign.ts';
import type { Run } from '../../workers/handler.ts';
import { deliver as deliverJob } from '../../workers/webhooks/deliver.ts';
import { scaled } from './machine-speed.ts';
import { type Receipt, useReceiver } from './receiver.ts';
import { rideWithEvents } from './rides.ts';
import { useTestContext } from './service.ts';

/**
 * The context with these local targets. They are added later, because the port of a receiver is only known once it
 * listens.
 */
export const withTargets = (ctx: Context, ...webhookLocalTargets: string[]): Context => ({
  ...ctx,
  config: { ...ctx.config, webhookLocalTargets },
});

/** Creates a live key. Resolves with it and its owner. */
export async function newKey(ctx: Context, webhookUrl?: string): Promise<NewKey & { owner: { accountId: string } }> {
  const { _id: accountId } = await accountOf('deliveries@rides.example');
  const key = await createKey(ctx.config, { accountId, name: 'test', mode: 'live', webhookUrl });
  return { ...key, owner: { accountId } };
}

/** A receiver, and a context that may send webhooks to it, for the tests of the surrounding describe. */
export function useDeliveries() {
  const receiver = useReceiver();
  const ctx = useTestContext(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }));
  /** Creates a live ride of a new key with undelivered events for the receiver. Resolves with its id. */
  const rideWith = async (events: number) => rideWithEvents(ctx, await newKey(ctx, receiver.url), events);
  return { receiver, ctx, rideWith };
}

/** Runs the job of an event once, like a worker. The default token is new for each run. */
export async function deliver(ctx: Context, rideId: string, seq: number, run: Partial<Run> = {}) {
  const keyId = (await rides.findOne({ _id: rideId }, { projection: { keyId: 1 } }))?.keyId ?? '';
  const job: DeliveryJob = { rideId, keyId, seq };
  return deliverJob(ctx, job, {
    pool: 'webhooks',
    token: randomBase62(12),
    stopping: new AbortController().signal,
    ...run,
  });
}

/** Runs the job of a resend or test event once, like a worker. */
export async function deliverResend(ctx: Context, attemptId: string, run: Partial<Run> = {}) {
  const { keyId = '', endpointId } = (await attempts.findOne({ _id: attemptId })) ?? {};
  return deliverJob(
    ctx,
    { attemptId, keyId, ...(endpointId && { endpointId }) },
    { pool: 'webhooks', token: randomBase62(12), stopping: new AbortController().signal, ...run },
  );
}

/** True if a receipt is signed with the secret, by the check that partners use. */
export function isSignedWith(secret: string, receipt: Receipt | undefined): boolean {
  if (!receipt) throw new Error('nothing was received');
  const header = String(receipt.headers['x-service-signature']);
  return verifySignature(secret, header, receipt.raw, Math.floor(Date.now() / 1_000));
}

/**
 * Shortens the time limit of attempts from 8 s during `run`, to a time in which a request reaches its receiver on this
 * machine. Fails if no attempt sets a time limit of 8 s.
 */
export async function withShortDeadline<T>(run: () => Promise<T>): Promise<T> {
  const { setTimeout } = globalThis;
  let shortened = 0;
  globalThis.setTimeout = ((callback: () => void, ms: number, ...rest: []) => {
    const isLimit = ms >= 8_000 && ms < 8_010;
    if (isLimit) shortened += 1;
    return setTimeout(callback, isLimit ? scaled(50) : ms, ...rest);
  }) as typeof setTimeout;
  try {
    return await run();
  } finally {
    globalThis.setTimeout = setTimeout;
    assert(shortened > 0, 'no attempt set its time limit of 8 s');
  }
}

/** The two writes that a delivery makes to its ride's document. Writes inside a batch cannot be intercepted here. */
type DeliveryWrite = 'claim' | 'settling';

/**
 * Replaces each write of this kind, to any ride, with a call of `instead`, which gets a function that makes the write.
 * Returns a function that restores the writes.
 */
export function insteadOf(kind: DeliveryWrite, instead: (write: () => Promise<unknown>) => unknown): () => void {
  const { findOneAndUpdate, updateOne } = rides;
  const intercepted =
    (method: (...args: never[]) => unknown) =>
    (...args: [filter: object, change: object]) => {
      const write = async () => Reflect.apply(method, rides, args);
      return kindOf(args[1]) === kind ? instead(write) : write();
    };
  const restore = () => void Object.assign(rides, { findOneAndUpdate, updateOne });
  Object.assign(rides, { findOneAndUpdate: intercepted(findOneAndUpdate), updateOne: intercepted(updateOne) });
  return restore;
}

function kindOf(change: object): DeliveryWrite | undefined {
  const { $set = {} } = (Array.isArray(change) ? change[0] : change) as { $set?: object };
  if ('settledSeq' in $set) return 'settling';
  return 'claim' in $set ? 'claim' : undefined;
}

/**
 * Calls `happens` between the next write of this kind and its answer. If `happens` throws, the write is made but its
 * answer is lost.
 */
export function beforeTheAnswer(kind: DeliveryWrite, happens: (answer: Ride) => unknown): void {
  const restore = insteadOf(kind, async (write) => {
    const answer = await write();
    restore();
    await happens(answer as Ride);
    return answer;
  });
}
