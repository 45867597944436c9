import type { Context } from '../base/context.ts';
import { addJob, type PoolName } from '../base/queues.ts';
import { type AttemptRecord, attempts } from './attempts.ts';

/** An attempt that is not done yet: a redelivery, a test event, or an event for a further endpoint. */
export type PendingAttempt = Pick<AttemptRecord, '_id' | 'keyId' | 'endpointId' | 'dueAt'> &
  Partial<Pick<AttemptRecord, 'kind'>>;

/** The time between two redeliveries of a key: over 0.1 s, so that at most 10 start within any second. */
export const resendIntervalMs = 111;

/**
 * Adds the job of a pending attempt. Never fails, because the attempt is in MongoDB. Resolves with false if Redis did not
 * accept the job; the sweeper then adds it later. An event for a further endpoint is due at once: its `dueAt` is the time
 * of the event, which is ahead after MongoDB's clock was set back.
 */
export async function enqueueAttempt(
  ctx: Context,
  { _id, keyId, endpointId, kind, dueAt }: PendingAttempt,
  pool: Extract<PoolName, `webhooks${string}`> = 'webhooks',
  { evenIfActive = false } = {},
): Promise<boolean> {
  return addJob(ctx, pool, {
    id: attemptJobId(_id),
    name: `attempt ${_id}`,
    data: { attemptId: _id, keyId, ...(endpointId && { endpointId }) },
    ...(kind !== 'event' && { dueAt }),
    evenIfActive,
  });
}

/** The dedupe id of an attempt's job, in both `webhooks` and `webhooks-slow`. */
export const attemptJobId = (attemptId: string): string => attemptId;

/** Attempts of a ride for one destination are made in order. */
export const laneOf = ({ rideId, endpointId = '' }: Pick<AttemptRecord, 'rideId' | 'endpointId'>): string =>
  `${rideId} ${endpointId}`;

/**
 * The next attempt of each of these rides for each destination (`laneOf`), which is the first one that is not done. The
 * later ones wait for it, so that the ride's events arrive in order and no destination waits for another.
 */
export async function nextRedeliveries(rideIds: readonly string[]): Promise<Map<string, PendingAttempt>> {
  const next = new Map<string, PendingAttempt>();
  if (rideIds.length === 0) return next;
  const order = { rideId: 1, dueAt: 1, _id: 1 } as const;
  const filter = { rideId: { $in: [...rideIds] }, dueAt: { $exists: true } };
  const options = {
    projection: { rideId: 1, keyId: 1, endpointId: 1, kind: 1, dueAt: 1 },
    sort: order,
    hint: order,
  } as const;
  for await (const pending of attempts.find<PendingAttempt & { rideId: string }>(filter, options)) {
    if (!next.has(laneOf(pending))) next.set(laneOf(pending), pending);
  }
  return next;
}

/** Adds the jobs of each ride's next attempts, one for each destination. */
export async function enqueueNextRedeliveries(ctx: Context, rideIds: readonly string[]): Promise<void> {
  const next = await nextRedeliveries(rideIds);
  await Promise.all([...next.values()].map((pending) => enqueueAttempt(ctx, pending)));
}
