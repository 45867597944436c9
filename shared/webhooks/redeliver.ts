import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { newAttemptId } from '../base/ids.ts';
import { exists } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import { findEndpoint } from '../keys/endpoints.ts';
import { rides } from '../rides/ride.ts';
import type { Ride } from '../rides/ride-types.ts';
import { enqueueNextRedeliveries, resendIntervalMs } from './attempt-jobs.ts';
import {
  type AttemptRecord,
  attemptOfForm,
  attempts,
  eventFields,
  insertUnlessDuplicate,
  insertUntilDuplicate,
  type Requester,
  waitingUntil,
} from './attempts.ts';
import { listAttempts } from './list-attempts.ts';
import {
  type EarlierRequests,
  type EventOfRide,
  findUndelivered,
  idOf,
  nothingRequested,
  type RideWithEvents,
  rideFields,
  type TimeRange,
} from './undelivered.ts';

/**
 * Resends an event of a ride to the current URL of the ride or key, or to a further endpoint, with its original body, id
 * and number, the header `X-Service-Redelivery` and a new signature. Resolves with the id of the attempt, or of the
 * pending one if the event is already being resent. Throws `not_found` for an event that is unknown or of another
 * account, `not_sent_yet` for an event whose attempt for this destination is not finished, `body_erased`, and
 * `no_webhook_url` if there is no address to send it to.
 *
 * Resends of a ride are sent in the order in which they were requested, whoever requests them.
 *
 * With `isSpaced`, the resend is due after the other pending resends of the key. This only saves throttled runs: two
 * concurrent calls may choose the same time, and the workers admit at most 10 resends of a key in a second.
 */
export async function redeliver(
  ctx: Context,
  { rideId, seq, endpointId }: { rideId: string; seq: number; endpointId?: string },
  { accountId, requestId, form, isSpaced }: Requester & { isSpaced?: true },
): Promise<string> {
  const ride = await rides.findOne<RideWithEvents & Pick<Ride, 'seq' | 'erasedAt' | 'webhookUrl'>>(
    { _id: rideId, accountId },
    { projection: { ...rideFields, seq: 1, erasedAt: 1, webhookUrl: 1 }, ...timeLimit() },
  );
  const event = ride?.events.find((one) => one.seq === seq);
  // An erased ride no longer has all of its events.
  if (ride?.erasedAt && seq >= 1 && seq <= ride.seq) throw new AppError('body_erased');
  if (!ride || !event) throw new AppError('not_found');
  if (!event.delivery && !(await isCopySent({ rideId, seq, endpointId }))) throw new AppError('not_sent_yet');
  if (!event.body) throw new AppError('body_erased');
  if (endpointId) await findEndpoint({ endpointId, keyId: ride.keyId, accountId });
  else if (!ride.webhookUrl && !(await hasWebhookUrl(ride.keyId))) throw new AppError('no_webhook_url');
  const dueMs = isSpaced ? await nextStartMs(ctx, ride) : await nextOfRideMs(ctx, rideId);
  const record = redelivery({ ride, event, endpointId }, dueMs, { requestId, form });
  const stored = (await findStored(record)) ?? (await insertUnlessDuplicate(record)) ?? (await findStored(record));
  await enqueueNextRedeliveries(ctx, [rideId]);
  return (stored ?? record)._id;
}

/** True if the copy of an event for a further endpoint was sent. No endpoint waits for the attempt for the default URL. */
const isCopySent = async ({ rideId, seq, endpointId }: { rideId: string; seq: number; endpointId?: string }) =>
  endpointId !== undefined && exists(attempts, { rideId, seq, kind: 'event', endpointId, dueAt: { $exists: false } });

const hasWebhookUrl = async (keyId: string): Promise<boolean> =>
  Boolean((await keys.findOne({ _id: keyId }, { projection: { webhookUrl: 1 }, ...timeLimit() }))?.webhookUrl);

/** Finds the attempt that the same form has requested before, or else the pending redelivery of the same event. */
const findStored = async ({
  form,
  rideId,
  seq,
  endpointId = { $exists: false } as never,
}: AttemptRecord): Promise<Pick<AttemptRecord, '_id'> | null> =>
  (await attemptOfForm(form)) ??
  attempts.findOne(
    { rideId, seq, kind: 'redelivery', endpointId, dueAt: { $exists: true } },
    { projection: { _id: 1 }, ...timeLimit() },
  );

/** The earliest time at which a further resend of the ride may start: after those that are pending (Unix ms). */
async function nextOfRideMs(ctx: Context, rideId: string): Promise<number> {
  const pending = { rideId, dueAt: { $exists: true } };
  const options = { sort: { dueAt: -1 }, projection: { dueAt: 1 }, ...timeLimit() } as const;
  const last = await attempts.findOne(pending, options);
  return Math.max(ctx.now(), (last?.dueAt?.getTime() ?? 0) + 1);
}

/** The earliest time at which a further resend of the key may start (Unix ms). */
async function nextStartMs(ctx: Context, { keyId, accountId }: Pick<Ride, 'keyId' | 'accountId'>): Promise<number> {
  const [last] = await listAttempts({ accountId }, { keyId, outcome: 'waiting', limit: 1 });
  return Math.max(ctx.now(), (last?.at.getTime() ?? 0) + resendIntervalMs);
}

/**
 * Resends the undelivered events of a key whose attempt was made in a time range, oldest first, at most 500 events and
 * at most 10 a second. The events of one ride are sent one after the other. Skips events with a pending resend, events
 * that have been delivered since, and events whose body is erased.
 *
 * Resolves with the number of events that it resends; a further call continues with the next ones. Throws `not_found`
 * for a key that is unknown or of another account.
 */
export async function redeliverFailed(
  ctx: Context,
  keyId: string,
  range: TimeRange,
  { accountId, requestId, form }: Requester,
): Promise<number> {
  if (!(await exists(keys, { _id: keyId, accountId }))) throw new AppError('not_found');
  let sent = 0;
  for (let isDone = false; !isDone; ) {
    const earlier = await findRequested(form);
    const undelivered = await findUndelivered(keyId, accountId, range, earlier);
    const startMs = await nextStartMs(ctx, { keyId, accountId });
    // Inserts the redeliveries in order, but stops at an event that another request has resent in the meantime. The
    // next round plans the remaining events after that one, so the resends of a ride are due in the order of its
    // events.
    const inserted = await insertUntilDuplicate(
      undelivered.map((one, index) => redelivery(one, startMs + index * resendIntervalMs, { requestId, form })),
    );
    sent += inserted;
    isDone = inserted === undelivered.length;
    // Also counts what a concurrent request with the same form has resent.
    if (isDone) sent = Math.max(sent, (await findRequested(form)).events.size);
    const rideIds = undelivered.map(({ ride }) => ride._id);
    await enqueueNextRedeliveries(ctx, [...new Set([...earlier.rideIds, ...rideIds])]);
  }
  return sent;
}

async function findRequested(form: string | undefined): Promise<EarlierRequests> {
  if (form === undefined) return nothingRequested;
  const found = await attempts.find({ form }, { projection: { rideId: 1, seq: 1, at: 1 }, ...timeLimit() }).toArray();
  const since = found.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime())[0];
  const events = new Set(found.map(({ rideId, seq }) => idOf(rideId, seq)));
  return { events, rideIds: found.flatMap(({ rideId = [] }) => rideId), ...(since && { since }) };
}

function redelivery(
  { ride, event, endpointId }: EventOfRide & { endpointId?: string },
  dueMs: number,
  { requestId, form }: Pick<Requester, 'requestId' | 'form'>,
): AttemptRecord {
  const at = new Date(dueMs);
  return {
    _id: newAttemptId(dueMs),
    accountId: ride.accountId,
    keyId: ride.keyId,
    mode: ride.mode,
    kind: 'redelivery',
    ...eventFields(event),
    rideId: ride._id,
    at,
    ...waitingUntil(at),
    ...(endpointId ? { endpointId, onlyResendTo: endpointId } : { isOnlyResend: true }),
    ...(requestId && { requestId }),
    ...(form && { form }),
  };
}
