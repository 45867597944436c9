import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import type { ListedRide } from '../rides/list-rides.ts';
import { rides } from '../rides/ride.ts';
import type { Delivery, Ride, RideEvent } from '../rides/ride-types.ts';
import { type AccountOwner, attempts, ofRide, type RecordedOutcome } from './attempts.ts';

/** One request resends at most this many events. */
export const maxResends = 500;
const pageSize = 100;

export type RideWithEvents = Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'events'>;
export const rideFields = { keyId: 1, accountId: 1, mode: 1, events: 1 } as const;

/** An event with its ride. */
export interface EventOfRide {
  ride: RideWithEvents;
  event: RideEvent;
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
    const reasons: Record<string, number> = {};
    let events = 0;
    for await (const page of undeliveredPages(each, key.accountId, range)) {
      events += page.length;
      for (const { event } of page) {
        const { outcome, httpStatus, reason } = event.delivery ?? {};
        const text = [outcome, httpStatus, reason].filter(Boolean).join(' ');
        reasons[text] = (reasons[text] ?? 0) + 1;
      }
    }
    if (events > 0) found.push({ keyId: each, accountId: key.accountId, events, reasons });
  }
  return found;
}

/** The events that a form has requested, and when it did first. A repeat adds only missing events. */
export interface EarlierRequests {
  events: Set<string>;
  rideIds: string[];
  since?: Date;
}

export const nothingRequested: EarlierRequests = { events: new Set(), rideIds: [] };

/**
 * The undelivered events of a key whose attempt was made in a time range, oldest first, without those that are being
 * resent or have been requested `earlier`: as many as one request resends, less those.
 */
export async function findUndelivered(
  keyId: string,
  accountId: string,
  range: TimeRange,
  earlier: EarlierRequests,
): Promise<EventOfRide[]> {
  const most = maxResends - earlier.events.size;
  const isMissed = ({ ride, event }: EventOfRide) =>
    !earlier.events.has(idOf(ride._id, event.seq)) &&
    !(earlier.since && event.delivery && event.delivery.at > earlier.since);
  const found: EventOfRide[] = [];
  for await (const page of undeliveredPages(keyId, accountId, range)) {
    found.push(...page.filter(isMissed));
    if (found.length >= most) break;
  }
  return found.sort(byTime).slice(0, Math.max(0, most));
}

/** The undelivered events, in pages of rides: a key can have more than fit into memory. */
async function* undeliveredPages(keyId: string, accountId: string, range: TimeRange): AsyncGenerator<EventOfRide[]> {
  const filter = { keyId, undeliveredAt: { $gte: range.since } };
  const order = { keyId: 1, undeliveredAt: 1 } as const;
  const cursor = rides.find<RideWithEvents>(filter, {
    projection: rideFields,
    sort: order,
    hint: order,
    batchSize: pageSize,
  });
  try {
    for (let page = await nextPage(cursor); page.length > 0; page = await nextPage(cursor)) {
      const own = page.filter((ride) => ride.accountId === accountId);
      const failed = own.flatMap((ride) => failedEvents(ride, range));
      const rideIds = [...new Set(failed.map(({ ride }) => ride._id))];
      const resent = await resentEvents(rideIds, { accountId }, ['waiting', 'delivered']);
      yield failed.filter(({ ride, event }) => !resent.has(idOf(ride._id, event.seq)));
    }
  } finally {
    await cursor.close();
  }
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

/** Names an event of a ride, in a set. */
export const idOf = (rideId: string | undefined, seq: number | undefined): string => `${rideId}_${seq}`;

/** The events (`idOf`) of the account's rides of which a resend to the URL of the ride or key has one of these outcomes. */
export async function resentEvents(
  rideIds: readonly string[],
  { accountId }: AccountOwner,
  outcomes: RecordedOutcome[],
): Promise<Set<string>> {
  if (rideIds.length === 0) return new Set();
  const toDefault = { kind: 'redelivery', endpointId: { $exists: false } } as const;
  const filter = { rideId: { $in: [...rideIds] }, accountId, ...toDefault, outcome: { $in: outcomes } };
  const options = { projection: { _id: 0, rideId: 1, seq: 1 }, hint: ofRide, ...timeLimit() };
  const found = await attempts.find(filter, options).toArray();
  return new Set(found.map(({ rideId, seq }) => idOf(rideId, seq)));
}

/** Drops the `missed` events that a resend has delivered. Reads only the attempts of rides with such events. */
export async function withoutResent<Listed extends Pick<ListedRide, '_id' | 'missed'>>(
  rides: readonly Listed[],
  owner: AccountOwner,
): Promise<Listed[]> {
  const rideIds = rides.filter(({ missed }) => missed.length > 0).map(({ _id }) => _id);
  const arrived = await resentEvents(rideIds, owner, ['delivered']);
  return rides.map((ride) => ({ ...ride, missed: ride.missed.filter((seq) => !arrived.has(idOf(ride._id, seq))) }));
}
