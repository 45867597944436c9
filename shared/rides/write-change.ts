import type { Context } from '../base/context.ts';
import { eventId } from '../base/ids.ts';
import { batchedFind, batchedWrite } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import { limitSend, SendLimitPassed } from '../base/mongo/driver-patch.ts';
import { endpointsFor } from '../keys/endpoints.ts';
import type { Change } from './decide.ts';
import { eventBody, trackUrl } from './events.ts';
import type { MarkCopy } from './feed/feed-mark.ts';
import { rides } from './ride.ts';
import { earliestDueAt } from './ride-jobs.ts';
import type { Offer, Origin, Ride, RideEvent, RideState } from './ride-types.ts';

/** The longest time from reading a ride to writing its event, by MongoDB's clock. */
export const writeLimitMs = 2_000;
/** The maximum age of this process's copy of the feed's mark when an event is sent, by its own clock. */
export const sendLimitMs = 1_500;
/** MongoDB's clock may be this far behind the time that was read: the clocks of several mongos differ. */
export const behindLimitMs = 500;

/**
 * The times on which a decision is based. `at`: the time of the change. `now`: MongoDB's clock when the ride was read.
 * `mark`: the copy of the feed's mark that this process had at that moment.
 */
interface DecisionTimes {
  at: Date;
  now: Date;
  mark: MarkCopy;
  origin?: Origin;
}

const update = batchedWrite<Ride>(rides);
const readOutbox = batchedFind<Ride, Pick<Ride, '_id' | 'settledSeq'>>(rides, '_id', { settledSeq: 1 });

/**
 * Writes a change in one update, for `changeRide`. Resolves with the ride after the change. Resolves with null if
 * another write was first, the bidding deadline has passed or the event would be too late for the feed. Resolves with
 * `driver_busy` if the change assigns a driver who has another moving ride.
 */
export async function writeChange(
  ctx: Context,
  ride: RideState,
  decided: Change,
  times: DecisionTimes,
): Promise<RideState | 'driver_busy' | null> {
  const change = await withWithdrawals(ride, decided, times.now);
  const { newOffer, event, unset = [] } = change;
  const { at, now, mark, origin } = times;
  const feedTime = feedTimeOf(ride, times);
  const isDisplaced = feedTime > at;
  const nextDueAt = change.set.timers ? earliestDueAt(change.set.timers) : ride.nextDueAt;
  const next: RideState = { ...ride, ...change.set, offers: change.set.offers ?? [...ride.offers] };
  if (newOffer) next.offers.push(newOffer);
  for (const name of unset) delete next[name];
  const sequence = ride.seq + 1;
  const newEvent: RideEvent | undefined = event && {
    seq: sequence,
    event,
    at: feedTime,
    ...(isDisplaced && { clockAt: at }),
    ...origin,
    ...(change.set.nextRideId && { replacedBy: change.set.nextRideId }),
    body: eventBody({
      event,
      at: at.getTime(),
      ride: next,
      offer: newOffer,
      trackUrl: trackUrl(ctx.config.trackBaseUrl, ride),
      eventId: eventId(ride._id, sequence),
      sequence,
    }),
  };
  const filter = { _id: ride._id, rev: ride.rev, ...inTime(change, now) };
  if (newEvent) limitSend(filter, mark.askedAt + sendLimitMs);
  const lastEvent = newEvent && {
    seq: newEvent.seq,
    lastEventAt: feedTime,
    ...(isDisplaced && { lastClock: { seq: newEvent.seq, at } }),
  };
  const written = await tryUpdate({
    filter,
    change: {
      $set: {
        ...change.set,
        ...(nextDueAt && { nextDueAt }),
        ...lastEvent,
        // Set here only if no earlier event is unsettled. Otherwise the field changes when the earlier events are
        // settled.
        ...(newEvent && ride.settledSeq === ride.seq && { unsettledSince: at }),
      },
      $unset: Object.fromEntries([...unset, ...(nextDueAt ? [] : ['nextDueAt'])].map((name) => [name, ''])),
      $inc: { rev: 1, unsettled: newEvent ? 1 : 0 },
      $push: { ...(newOffer && { offers: newOffer }), ...(newEvent && { events: newEvent }) },
    },
  });
  if (written !== true) return written || null;
  const seq = newEvent?.seq ?? ride.seq;
  // Events that were unsettled when the ride was read may have been settled before the write.
  const settledSeq = newEvent && ride.settledSeq < ride.seq ? await readSettledSeq(ride) : ride.settledSeq;
  return { ...next, rev: ride.rev + 1, nextDueAt, ...lastEvent, seq, settledSeq, unsettled: seq - settledSeq };
}

/**
 * Adds the offers that a change withdraws to those whose events the ride owes, if an endpoint of the key wants these
 * events, with the timer that stores them. A timer that has not fired stays.
 */
async function withWithdrawals(ride: RideState, change: Change, now: Date): Promise<Change> {
  const isNew = ({ withdrawnAt }: Offer, index: number) => withdrawnAt && !ride.offers[index]?.withdrawnAt;
  const withdrawn = (change.set.offers ?? []).filter(isNew).map(({ offerId }) => offerId);
  const isWanted = withdrawn.length > 0 && (await endpointsFor(ride.keyId, 'offer.withdrawn')).length > 0;
  const withdrawalsOwed = [
    ...(change.set.withdrawalsOwed ?? ride.withdrawalsOwed ?? []),
    ...(isWanted ? withdrawn : []),
  ];
  if (withdrawalsOwed.length === 0) return change;
  const others = (change.set.timers ?? ride.timers).filter(({ name }) => name !== 'withdrawn');
  const pending = ride.timers.find(({ name }) => name === 'withdrawn' && !change.set.withdrawalsOwed);
  const timers = [...others, pending ?? { name: 'withdrawn' as const, dueAt: now }];
  return { ...change, set: { ...change.set, withdrawalsOwed, timers } };
}

/** The event's feed time: its time, or later if that may be shown already or precedes the ride's last event. */
function feedTimeOf({ lastEventAt }: RideState, { at, mark: { mark } }: DecisionTimes): Date {
  return new Date(Math.max(at.getTime(), mark + 1, (lastEventAt?.getTime() ?? 0) + 1));
}

/** The time of the ride's last event (Unix ms); 0 before the first. */
export const lastEventTime = ({ seq, lastClock, lastEventAt }: RideState): number =>
  (lastClock?.seq === seq ? lastClock.at : lastEventAt)?.getTime() ?? 0;

/**
 * The condition that the write is in time. An event is written only while MongoDB's clock is neither far ahead of nor
 * far behind the time at which the change was decided. A write that is too late counts as a lost race: `changeRide`
 * decides again, with a new `at`.
 */
function inTime({ beforeDeadline, event }: Change, now: Date): { $expr?: object } {
  const fromNow = (ms: number) => new Date(now.getTime() + ms);
  const conditions = [
    ...(beforeDeadline ? [{ $lt: ['$$NOW', '$biddingEndsAt'] }] : []),
    ...(event ? [{ $lt: ['$$NOW', fromNow(writeLimitMs)] }, { $gt: ['$$NOW', fromNow(-behindLimitMs)] }] : []),
  ];
  return conditions.length > 0 ? { $expr: { $and: conditions } } : {};
}

/**
 * The change is already written, so a failure of this read must not fail the change. It then assumes that all earlier
 * events are settled. At worst the new event's job is added early, and does nothing until the earlier events are settled.
 */
async function readSettledSeq({ _id, seq }: RideState): Promise<number> {
  const outbox = await readOutbox(_id).catch(() => null);
  return outbox?.settledSeq ?? seq;
}

/** A duplicate key means a busy driver: the only unique index here allows a driver one moving ride. */
async function tryUpdate(written: Parameters<typeof update>[0]): Promise<boolean | 'driver_busy'> {
  try {
    return await update(written);
  } catch (error) {
    if (error instanceof SendLimitPassed) return false;
    if (isDuplicate(error)) return 'driver_busy';
    throw error;
  }
}
