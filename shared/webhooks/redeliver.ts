import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { newAttemptId } from '../base/ids.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import { rides } from '../rides/ride.ts';
import type { Delivery, Ride, RideEvent } from '../rides/ride-types.ts';
import { enqueueNextRedeliveries } from './attempt-jobs.ts';
import {
  type AttemptRecord,
  attemptOfForm,
  attempts,
  eventFields,
  insertUnlessDuplicate,
  insertUntilDuplicate,
  listAttempts,
  type Requester,
} from './attempts.ts';

/** One request resends at most this many events. */
export const maxResends = 500;
/**
 * The time between two redeliveries of a key. Slightly over a tenth of a second, so that at most 10 start within any
 * second.
 */
export const resendIntervalMs = 111;
const pageSize = 100;

type RideWithEvents = Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'events'>;
const rideFields = { keyId: 1, accountId: 1, mode: 1, events: 1 } as const;

/** An event with its ride. */
interface EventOfRide {
  ride: RideWithEvents;
  event: RideEvent;
}

/**
 * Resends an event of a ride to the current URL, with its original body, id and number, the header
 * `X-Service-Redelivery` and a new signature. Resolves with the id of the attempt, or of the pending one if the event
 * is already being resent. Throws `not_found` for an event that is unknown or of another account, `not_sent_yet` for an
 * event whose own attempt is not finished, and `body_erased`.
 *
 * With `isSpaced`, the resend is due after the other pending resends of the key. This only saves throttled runs: two
 * concurrent calls may choose the same time, and the workers admit at most 10 resends of a key in a second.
 */
export async function redeliver(
  ctx: Context,
  { rideId, seq }: { rideId: string; seq: number },
  { accountId, requestId, form, isSpaced }: Requester & { isSpaced?: true },
): Promise<string> {
  const ride = await rides.findOne<RideWithEvents>(
    { _id: rideId, accountId },
    { projection: rideFields, ...timeLimit() },
  );
  const event = ride?.events.find((one) => one.seq === seq);
  if (!ride || !event) throw new AppError('not_found');
  if (!event.delivery) throw new AppError('not_sent_yet');
  if (!event.body) throw new AppError('body_erased');
  const dueMs = isSpaced ? await nextStartMs(ctx, ride) : ctx.now();
  const record = redelivery({ ride, event }, dueMs, { requestId, form });
  const stored = (await findStored(record)) ?? (await insertUnlessDuplicate(record)) ?? (await findStored(record));
  await enqueueNextRedeliveries(ctx, [rideId]);
  return (stored ?? record)._id;
}

/** Finds the attempt that the same form has requested before, or else the pending redelivery of the same event. */
const findStored = async ({ form, rideId, seq }: AttemptRecord): Promise<Pick<AttemptRecord, '_id'> | null> =>
  (await attemptOfForm(form)) ??
  attempts.findOne({ rideId, seq, dueAt: { $exists: true } }, { projection: { _id: 1 }, ...timeLimit() });

/** The earliest time at which a further resend of the key may start (Unix ms). */
async function nextStartMs(ctx: Context, { keyId, accountId }: Pick<Ride, 'keyId' | 'accountId'>): Promise<number> {
  const [last] = await listAttempts({ accountId }, { keyId, outcome: 'waiting', limit: 1 });
  return Math.max(ctx.now(), (last?.at.getTime() ?? 0) + resendIntervalMs);
}

/** Selects attempts from `since` to `until`; without `until`, all later attempts. */
export interface TimeRange {
  since: Date;
  until?: Date;
}

/** How many events of a key can be resent: in total, and by outcome and reason, e.g. `failed ENETUNREACH`. */
export interface UndeliveredCount {
  keyId: string;
  accountId: string;
  events: number;
  reasons: Record<string, number>;
}

/**
 * Counts, for one key or for all keys, the events whose attempt failed or timed out in a time range and that have not
 * been delivered since. Ignores events without a URL or with a blocked URL, because only the partner can fix those.
 */
export async function countUndelivered(range: TimeRange, keyId?: string): Promise<UndeliveredCount[]> {
  const filter = { ...(keyId && { keyId }), undeliveredAt: { $gte: range.since } };
  const keyIds = keyId ? [keyId] : ((await rides.distinct('keyId', filter, timeLimit())) as string[]);
  const found: UndeliveredCount[] = [];
  for (const each of keyIds) {
    const key = await keys.findOne({ _id: each }, { projection: { accountId: 1 }, ...timeLimit() });
    if (!key) continue;
    const undelivered = await findUndelivered(each, key.accountId, range, nothingRequested, Number.POSITIVE_INFINITY);
    const reasons: Record<string, number> = {};
    for (const { event } of undelivered) {
      const { outcome, httpStatus, reason } = event.delivery ?? {};
      const text = [outcome, httpStatus, reason].filter(Boolean).join(' ');
      reasons[text] = (reasons[text] ?? 0) + 1;
    }
    const events = undelivered.length;
    if (events > 0) found.push({ keyId: each, accountId: key.accountId, events, reasons });
  }
  return found;
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
  if (!(await keys.findOne({ _id: keyId, accountId }, { projection: { _id: 1 }, ...timeLimit() }))) {
    throw new AppError('not_found');
  }
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
    if (isDone) sent = Math.max(sent, earlier.events.size + inserted);
    const rideIds = undelivered.map(({ ride }) => ride._id);
    await enqueueNextRedeliveries(ctx, [...new Set([...earlier.rideIds, ...rideIds])]);
  }
  return sent;
}

/**
 * The events that a form has already requested, and the time of its first request. A repeat adds only missing events.
 */
interface EarlierRequests {
  events: Set<string>;
  rideIds: string[];
  since?: Date;
}

const nothingRequested: EarlierRequests = { events: new Set(), rideIds: [] };

async function findRequested(form: string | undefined): Promise<EarlierRequests> {
  if (form === undefined) return nothingRequested;
  const found = await attempts.find({ form }, { projection: { rideId: 1, seq: 1, at: 1 }, ...timeLimit() }).toArray();
  const since = found.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime())[0];
  const events = new Set(found.map(({ rideId, seq }) => idOf(rideId, seq)));
  return { events, rideIds: found.flatMap(({ rideId = [] }) => rideId), ...(since && { since }) };
}

async function findUndelivered(
  keyId: string,
  accountId: string,
  range: TimeRange,
  earlier: EarlierRequests,
  atMost = maxResends,
): Promise<EventOfRide[]> {
  const most = atMost - earlier.events.size;
  const isMissed = ({ ride, event }: EventOfRide) =>
    !earlier.events.has(idOf(ride._id, event.seq)) &&
    !(earlier.since && event.delivery && event.delivery.at > earlier.since);
  const found: EventOfRide[] = [];
  const filter = { keyId, undeliveredAt: { $gte: range.since } };
  const order = { keyId: 1, undeliveredAt: 1 } as const;
  const cursor = rides.find<RideWithEvents>(filter, {
    projection: rideFields,
    sort: order,
    hint: order,
    batchSize: pageSize,
  });
  try {
    while (found.length < most) {
      const page = await nextPage(cursor);
      if (page.length === 0) break;
      const own = page.filter((ride) => ride.accountId === accountId);
      found.push(...(await withoutRedelivered(own.flatMap((ride) => failedEvents(ride, range)))).filter(isMissed));
    }
  } finally {
    await cursor.close();
  }
  return found.sort(byTime).slice(0, Math.max(0, most));
}

async function nextPage(cursor: { next(): Promise<RideWithEvents | null> }): Promise<RideWithEvents[]> {
  const page: RideWithEvents[] = [];
  while (page.length < pageSize) {
    const ride = await cursor.next();
    if (!ride) break;
    page.push(ride);
  }
  return page;
}

const failedEvents = (ride: RideWithEvents, range: TimeRange): EventOfRide[] =>
  ride.events
    .filter(({ delivery, body }) => delivery && body && isSelected(delivery, range))
    .map((event) => ({ ride, event }));

/**
 * True if an event with this delivery is resent. Only the operator sets an end of the range: events without a URL or
 * with a blocked URL are then excluded (countUndelivered).
 */
function isSelected({ outcome, at }: Delivery, { since, until }: TimeRange): boolean {
  if (until) return (outcome === 'failed' || outcome === 'timeout') && at >= since && at < until;
  return outcome !== 'delivered' && at >= since;
}

/** A ride's events are sent in order, so sorting by attempt keeps their order. */
const byTime = (a: EventOfRide, b: EventOfRide): number =>
  (a.event.delivery?.at.getTime() ?? 0) - (b.event.delivery?.at.getTime() ?? 0) || a.event.seq - b.event.seq;

async function withoutRedelivered(events: readonly EventOfRide[]): Promise<EventOfRide[]> {
  const rideIds = [...new Set(events.map(({ ride }) => ride._id))];
  const filter = { rideId: { $in: rideIds }, kind: 'redelivery', outcome: { $in: ['waiting', 'delivered'] } } as const;
  const projection = { rideId: 1, seq: 1 };
  const redelivered = new Set<string>();
  for await (const { rideId, seq } of attempts.find(filter, { projection })) redelivered.add(idOf(rideId, seq));
  return events.filter(({ ride, event }) => !redelivered.has(idOf(ride._id, event.seq)));
}

const idOf = (rideId: string | undefined, seq: number | undefined): string => `${rideId}_${seq}`;

function redelivery(
  { ride, event }: EventOfRide,
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
    outcome: 'waiting',
    state: 'waiting',
    tries: 0,
    dueAt: at,
    isOnlyResend: true,
    ...(requestId && { requestId }),
    ...(form && { form }),
  };
}
