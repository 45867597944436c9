import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { newAttemptId } from '../ids.ts';
import { keys } from '../keys/api-key.ts';
import { timeLimit } from '../mongo/durability.ts';
import { rides } from '../rides/ride.ts';
import type { Delivery, Ride, RideEvent } from '../rides/ride-types.ts';
import { enqueueNextRedeliveries } from './attempt-jobs.ts';
import {
  type AskedBy,
  type AttemptRecord,
  attemptOfForm,
  attempts,
  insertUnlessTaken,
  insertUntilTaken,
  listAttempts,
} from './attempts.ts';

/** The most events that one request sends again. */
export const mostAtOnce = 500;
/** A little over a tenth of a second: at most 10 redeliveries of a key begin within any second. */
export const paceMs = 111;
const pageSize = 100;

type RideWithEvents = Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'events'>;
const rideFields = { keyId: 1, accountId: 1, mode: 1, events: 1 } as const;

/** An event that is to be sent again. */
interface Again {
  ride: RideWithEvents;
  event: RideEvent;
}

/**
 * Sends an event of a ride again, with its old body, id and number, the header `X-Service-Redelivery`, a new signature and to
 * the URL of now. Resolves with the id of the attempt; while one for this event waits, with that one's. Throws `not_found` for
 * an event that is unknown or of another account, `not_sent_yet` for one whose own attempt is not over, and `body_erased`.
 */
export async function redeliver(
  ctx: Context,
  { rideId, seq }: { rideId: string; seq: number },
  { accountId, requestId, form }: AskedBy,
): Promise<string> {
  const ride = await rides.findOne<RideWithEvents>(
    { _id: rideId, accountId },
    { projection: rideFields, ...timeLimit() },
  );
  const event = ride?.events.find((one) => one.seq === seq);
  if (!ride || !event) throw new AppError('not_found');
  if (!event.delivery) throw new AppError('not_sent_yet');
  if (!event.body) throw new AppError('body_erased');
  const record = redelivery({ ride, event }, ctx.now(), { requestId, form });
  const asked = (await askedFor(record)) ?? (await insertUnlessTaken(record)) ?? (await askedFor(record));
  await enqueueNextRedeliveries(ctx, [rideId]);
  return (asked ?? record)._id;
}

/** The attempt that an earlier sending of the same form has asked for, or else the pending one of the same event. */
const askedFor = async ({ form, rideId, seq }: AttemptRecord): Promise<Pick<AttemptRecord, '_id'> | null> =>
  (await attemptOfForm(form)) ??
  attempts.findOne({ rideId, seq, dueAt: { $exists: true } }, { projection: { _id: 1 }, ...timeLimit() });

/** The attempts that were made in this stretch of time; without an end, also all later ones. */
export interface Stretch {
  since: Date;
  until?: Date;
}

/** How many events of a key can be sent again, by outcome and reason, e.g. `failed ENETUNREACH`. */
export interface Undelivered {
  keyId: string;
  accountId: string;
  events: number;
  reasons: Record<string, number>;
}

/**
 * Counts, for one key or for all, the events whose attempt failed or timed out in a stretch of time and that have not
 * arrived since. Events without a URL or with a blocked one are the partner's to mend and are left out.
 */
export async function countUndelivered(stretch: Stretch, keyId?: string): Promise<Undelivered[]> {
  const filter = { ...(keyId && { keyId }), undeliveredAt: { $gte: stretch.since } };
  const keyIds = keyId ? [keyId] : ((await rides.distinct('keyId', filter, timeLimit())) as string[]);
  const found: Undelivered[] = [];
  for (const each of keyIds) {
    const key = await keys.findOne({ _id: each }, { projection: { accountId: 1 }, ...timeLimit() });
    if (!key) continue;
    const again = await undelivered(each, key.accountId, stretch, noneBefore, Number.POSITIVE_INFINITY);
    const reasons: Record<string, number> = {};
    for (const { event } of again) {
      const reason = [event.delivery?.outcome, event.delivery?.httpStatus, event.delivery?.reason]
        .filter(Boolean)
        .join(' ');
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }
    if (again.length > 0) found.push({ keyId: each, accountId: key.accountId, events: again.length, reasons });
  }
  return found;
}

/**
 * Sends the events of a key again whose attempt was made in this stretch of time and that have not arrived, the oldest first,
 * 500 at most: those of one ride one after the other, and all together at most 10 a second. Events that already wait for this
 * or have arrived by now are left out, and so are those whose body is erased: the next call continues after them. Resolves with how
 * many it sends. Throws `not_found` for a key that is unknown or of another account.
 */
export async function redeliverFailed(
  ctx: Context,
  keyId: string,
  stretch: Stretch,
  { accountId, requestId, form }: AskedBy,
): Promise<number> {
  if (!(await keys.findOne({ _id: keyId, accountId }, { projection: { _id: 1 }, ...timeLimit() }))) {
    throw new AppError('not_found');
  }
  let sent = 0;
  for (let isDone = false; !isDone; ) {
    const before = await askedBefore(form);
    const again = await undelivered(keyId, accountId, stretch, before);
    const [last] = await listAttempts({ accountId }, { keyId, outcome: 'waiting', limit: 1 });
    const startMs = Math.max(ctx.now(), (last?.at.getTime() ?? 0) + paceMs);
    // In their order and only up to one that somebody else has asked for in the meantime: those that follow it are planned
    // again, after it. So the resends of a ride are due in the order of its events.
    const inserted = await insertUntilTaken(
      again.map((one, index) => redelivery(one, startMs + index * paceMs, { requestId, form })),
    );
    sent += inserted;
    isDone = inserted === again.length;
    if (isDone) sent = Math.max(sent, before.events.size + inserted);
    await enqueueNextRedeliveries(ctx, [...new Set([...before.rideIds, ...again.map(({ ride }) => ride._id)])]);
  }
  return sent;
}

/** The events that a form has asked for, and since when. Its repeat asks only for those that its first sending missed. */
interface AskedBefore {
  events: Set<string>;
  rideIds: string[];
  since?: Date;
}

const noneBefore: AskedBefore = { events: new Set(), rideIds: [] };

async function askedBefore(form: string | undefined): Promise<AskedBefore> {
  if (form === undefined) return noneBefore;
  const found = await attempts.find({ form }, { projection: { rideId: 1, seq: 1, at: 1 }, ...timeLimit() }).toArray();
  const since = found.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime())[0];
  const events = new Set(found.map(({ rideId, seq }) => idOf(rideId, seq)));
  return { events, rideIds: found.flatMap(({ rideId = [] }) => rideId), ...(since && { since }) };
}

async function undelivered(
  keyId: string,
  accountId: string,
  stretch: Stretch,
  before: AskedBefore,
  atMost = mostAtOnce,
): Promise<Again[]> {
  const most = atMost - before.events.size;
  const isMissed = ({ ride, event }: Again) =>
    !before.events.has(idOf(ride._id, event.seq)) &&
    !(before.since && event.delivery && event.delivery.at > before.since);
  const found: Again[] = [];
  const filter = { keyId, undeliveredAt: { $gte: stretch.since } };
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
      found.push(...(await withoutRedelivered(own.flatMap((ride) => failedEvents(ride, stretch)))).filter(isMissed));
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

const failedEvents = (ride: RideWithEvents, stretch: Stretch): Again[] =>
  ride.events
    .filter(({ delivery, body }) => delivery && body && isWanted(delivery, stretch))
    .map((event) => ({ ride, event }));

/** With an end, the operator asks: events without a URL or with a blocked one are the partner's to mend. */
function isWanted({ outcome, at }: Delivery, { since, until }: Stretch): boolean {
  if (until) return (outcome === 'failed' || outcome === 'timeout') && at >= since && at < until;
  return outcome !== 'delivered' && at >= since;
}

/** The attempts of a ride's events are made in their order, so this keeps the order within each ride. */
const byTime = (a: Again, b: Again): number =>
  (a.event.delivery?.at.getTime() ?? 0) - (b.event.delivery?.at.getTime() ?? 0) || a.event.seq - b.event.seq;

async function withoutRedelivered(events: readonly Again[]): Promise<Again[]> {
  const rideIds = [...new Set(events.map(({ ride }) => ride._id))];
  const filter = { rideId: { $in: rideIds }, kind: 'redelivery', outcome: { $in: ['waiting', 'delivered'] } } as const;
  const projection = { rideId: 1, seq: 1 };
  const redelivered = new Set<string>();
  for await (const { rideId, seq } of attempts.find(filter, { projection })) redelivered.add(idOf(rideId, seq));
  return events.filter(({ ride, event }) => !redelivered.has(idOf(ride._id, event.seq)));
}

const idOf = (rideId: string | undefined, seq: number | undefined): string => `${rideId}_${seq}`;

function redelivery(
  { ride, event }: Again,
  dueMs: number,
  { requestId, form }: Pick<AskedBy, 'requestId' | 'form'>,
): AttemptRecord {
  const at = new Date(dueMs);
  return {
    _id: newAttemptId(dueMs),
    accountId: ride.accountId,
    keyId: ride.keyId,
    mode: ride.mode,
    kind: 'redelivery',
    event: event.event,
    rideId: ride._id,
    seq: event.seq,
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
