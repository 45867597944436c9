import type { Change } from './decide.ts';
import type { MarkCopy } from './feed/feed-mark.ts';
import type { Origin, RideState } from './ride-types.ts';

/** By MongoDB's clock, how long after its ride was read an event may be written. */
export const writeLimitMs = 2_000;
/** By this process's clock, how old the copy of the feed's mark may be when an event leaves this process. */
export const sendLimitMs = 1_500;
/** How far MongoDB's clock may be behind the one that was read: several mongos differ a little. */
export const behindLimitMs = 500;

/** A change's time, and by which clock and copy of the feed's mark it was decided. */
export interface When {
  at: Date;
  now: Date;
  mark: MarkCopy;
  origin?: Origin;
}

/**
 * The event's position in the feed: its time, or more when MongoDB's clock is behind what may have been shown already or
 * behind the ride's last event.
 */
export function positionOf({ lastEventAt }: RideState, { at, mark: { mark } }: When): Date {
  return new Date(Math.max(at.getTime(), mark + 1, (lastEventAt?.getTime() ?? 0) + 1));
}

/** The time of the ride's last event (Unix ms); 0 before the first. */
export const lastEventTime = ({ seq, lastClock, lastEventAt }: RideState): number =>
  (lastClock?.seq === seq ? lastClock.at : lastEventAt)?.getTime() ?? 0;

/**
 * An event is written only while MongoDB's clock is near the one that it was decided by, in both directions. A change that is
 * decided again gets a new `at`, so a late write is only a lost race.
 */
export function inTime({ beforeDeadline, event }: Change, now: Date): { $expr?: object } {
  const fromNow = (ms: number) => new Date(now.getTime() + ms);
  const conditions = [
    ...(beforeDeadline ? [{ $lt: ['$$NOW', '$biddingEndsAt'] }] : []),
    ...(event ? [{ $lt: ['$$NOW', fromNow(writeLimitMs)] }, { $gt: ['$$NOW', fromNow(-behindLimitMs)] }] : []),
  ];
  return conditions.length > 0 ? { $expr: { $and: conditions } } : {};
}
