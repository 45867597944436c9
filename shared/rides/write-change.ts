import type { Context } from '../base/context.ts';
import { batchedFind, batchedWrite } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import { limitSend, SendLimitPassed } from '../base/mongo/driver-patch.ts';
import type { Change } from './decide.ts';
import { eventBody, trackUrl } from './events.ts';
import type { MarkCopy } from './feed/feed-mark.ts';
import { rides } from './ride.ts';
import { earliest } from './ride-jobs.ts';
import type { Origin, Ride, RideEvent, RideState } from './ride-types.ts';

/** An event is written at most this long after its ride was read, by MongoDB's clock. */
export const writeLimitMs = 2_000;
/** The greatest age of the copy of the feed's mark when an event leaves this process, by this process's clock. */
export const sendLimitMs = 1_500;
/** MongoDB's clock may be this much behind the one that was read: several mongos differ a little. */
export const behindLimitMs = 500;

/** A change's time, and the clock and the copy of the feed's mark by which it was decided. */
interface When {
  at: Date;
  now: Date;
  mark: MarkCopy;
  origin?: Origin;
}

const update = batchedWrite<Ride>(rides);
const readOutbox = batchedFind<Ride, Pick<Ride, '_id' | 'settledSeq'>>(rides, '_id', { settledSeq: 1 });

/**
 * Writes a change in one update, for `changeRide`. Resolves with the ride after it; with null when another write was
 * first, the bidding deadline has passed or the event would come too late for the feed; and with `driver_busy` when the
 * driver that it assigns has another moving ride.
 */
export async function writeChange(
  ctx: Context,
  ride: RideState,
  change: Change,
  when: When,
): Promise<RideState | 'driver_busy' | null> {
  const { newOffer, event } = change;
  const { at, now, mark, origin } = when;
  const position = positionOf(ride, when);
  const isDisplaced = position > at;
  const nextDueAt = change.set.timers ? earliest(change.set.timers) : ride.nextDueAt;
  const next: RideState = { ...ride, ...change.set, offers: change.set.offers ?? [...ride.offers] };
  if (newOffer) next.offers.push(newOffer);
  const newEvent: RideEvent | undefined = event && {
    seq: ride.seq + 1,
    event,
    at: position,
    ...(isDisplaced && { clockAt: at }),
    ...origin,
    body: eventBody({
      event,
      at: at.getTime(),
      ride: next,
      offer: newOffer,
      trackUrl: trackUrl(ctx.config.trackBaseUrl, ride),
    }),
  };
  const filter = { _id: ride._id, rev: ride.rev, ...inTime(change, now) };
  if (newEvent) limitSend(filter, mark.askedAt + sendLimitMs);
  const lastEvent = newEvent && {
    seq: newEvent.seq,
    lastEventAt: position,
    ...(isDisplaced && { lastClock: { seq: newEvent.seq, at } }),
  };
  const written = await tryUpdate({
    filter,
    change: {
      $set: {
        ...change.set,
        ...(nextDueAt && { nextDueAt }),
        ...lastEvent,
        // Behind other unsettled events it is set later, when those are settled.
        ...(newEvent && ride.settledSeq === ride.seq && { unsettledSince: at }),
      },
      ...(!nextDueAt && { $unset: { nextDueAt: '' } }),
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
 * The event's position in the feed: its time, or more when MongoDB's clock is behind what may have been shown already
 * or behind the ride's last event.
 */
function positionOf({ lastEventAt }: RideState, { at, mark: { mark } }: When): Date {
  return new Date(Math.max(at.getTime(), mark + 1, (lastEventAt?.getTime() ?? 0) + 1));
}

/** The time of the ride's last event (Unix ms); 0 before the first. */
export const lastEventTime = ({ seq, lastClock, lastEventAt }: RideState): number =>
  (lastClock?.seq === seq ? lastClock.at : lastEventAt)?.getTime() ?? 0;

/**
 * An event is written only while MongoDB's clock is near the one that it was decided by, in both directions. A change
 * that is decided again gets a new `at`, so a late write is only a lost race.
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
 * The change is written, so its answer must not depend on this read: where it fails, all events count as settled, and
 * the job that is added too early finds that it is not its turn.
 */
async function readSettledSeq({ _id, seq }: RideState): Promise<number> {
  const outbox = await readOutbox(_id).catch(() => null);
  return outbox?.settledSeq ?? seq;
}

/** The only unique index that an update can violate is the one that gives a driver one moving ride. */
async function tryUpdate(written: Parameters<typeof update>[0]): Promise<boolean | 'driver_busy'> {
  try {
    return await update(written);
  } catch (error) {
    if (error instanceof SendLimitPassed) return false;
    if (isDuplicate(error)) return 'driver_busy';
    throw error;
  }
}
