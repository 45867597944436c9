import { setTimeout } from 'node:timers/promises';
import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { firstOffer, firstRequest, rideStatuses } from '../base/metrics.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { NotYetCommitted } from '../base/mongo/outage.ts';
import { publishRideChange } from '../base/wake.ts';
import { findPosition } from '../drivers/positions.ts';
import type { Change } from './decide.ts';
import { ageOf, copyLimitMs, feedMark } from './feed/feed-mark.ts';
import { biddingSince } from './opening.ts';
import { type RideRef, readRide } from './read-ride.ts';
import { rides } from './ride.ts';
import { enqueueNewEvent, enqueueNextDelivery, enqueueNextTimer } from './ride-jobs.ts';
import { movingStatuses, type Offer, type Origin, type RideState } from './ride-types.ts';
import { hasEnded } from './transitions.ts';
import { lastEventTime, writeChange } from './write-change.ts';

/** The outcome of a decision on a ride: the change, and a result for the caller. */
interface DecisionOutcome<Result> {
  /** Null if the change was made before, `not yet` if it is too early. Both leave the ride unchanged. */
  change: Change | null | 'not yet';
  result: Result;
}

/**
 * Decides how to change a ride that was just read. `now` is MongoDB's clock, read together with the ride. `at` is the
 * time of the change: `now`, or 1 ms after the ride's last event if that is later, so that `at` strictly increases.
 */
export type Decision<Result> = (ride: RideState, at: Date, now: Date) => DecisionOutcome<Result>;

/** The limit of rounds. 50 concurrent offers need far fewer, so more rounds mean a fault other than contention. */
const maxRounds = 200;
/** If a ride's state does not reach the majority within this time, it counts as an outage. */
const commitLimitMs = 1_000;

/** Thrown if the change would give a driver a second moving ride. */
export class DriverBusy extends AppError {
  readonly driverId: string;

  constructor(driverId: string) {
    super('driver_busy');
    this.driverId = driverId;
  }
}

/** Thrown for a ride that is held (held-rides.ts). Callers get the same 503 as while the service is unavailable. */
export class RideHeld extends AppError {
  constructor() {
    super('unavailable');
  }
}

/**
 * THE way to change a ride: reads it, decides in plain code, and writes on condition that its `rev` is unchanged.
 * Repeats this if another process was first. Resolves with null if the ride is unknown or belongs to another owner;
 * otherwise with the result of the last decision and the ride after it.
 *
 * An error thrown by `decision` is rethrown, and nothing is written. Throws DriverBusy, and `unavailable` for a held
 * ride and after 200 lost races. `origin` is stored with the change's event.
 *
 * A result or error never reports a state that a failover could roll back: this function waits until the majority has
 * that state, and throws NotYetCommitted after one second. A repeated change adds its jobs and wake-ups again, because
 * the first process may have lost MongoDB's answer before it added them.
 */
export async function changeRide<Result>(
  ctx: Context,
  { rideId, owner }: RideRef,
  decision: Decision<Result>,
  origin?: Origin,
): Promise<{ ride: RideState; result: Result } | null> {
  const giveUpAt = performance.now() + commitLimitMs;
  for (let round = 0; round < maxRounds; round++) {
    const [read, mark] = await Promise.all([readRide({ rideId, owner }), feedMark()]);
    if (!read) return null;
    const { ride, now } = read;
    if (ride.heldAt) throw new RideHeld();
    const at = new Date(Math.max(now.getTime(), lastEventTime(ride) + 1));
    const decided = tryDecision(() => decision(ride, at, now));
    if ('refusal' in decided || !decided.change || decided.change === 'not yet') {
      if (!(await isCommitted(ride))) {
        await waitForCommit(giveUpAt);
        continue;
      }
      if ('refusal' in decided) throw decided.refusal;
      if (!decided.change) await announceAgain(ctx, ride);
      return { ride, result: decided.result };
    }
    const { change, result } = decided;
    const complete = await withLastPosition(ride, change);
    // The event could be too late for the feed, so decide again with a newer mark.
    if (change.event && ageOf(mark) > copyLimitMs) continue;
    const changed = await writeChange(ctx, ride, complete, { at, now, mark, origin });
    if (changed === 'driver_busy') {
      const { driver } = change.set;
      if (driver && (await isOnAnotherRide(driver.driverId, rideId))) throw new DriverBusy(driver.driverId);
      await waitForCommit(giveUpAt);
      continue;
    }
    if (!changed) continue;
    const { status, seq, rev, cancelledBy } = changed;
    const { event, set } = change;
    const requestId = origin?.requestId ?? changed.origin?.requestId;
    const withdrawn = withdrawnBetween(ride, changed) || undefined;
    ctx.log.info(
      { requestId, rideId, keyId: changed.keyId, status, rev, seq, event, cancelledBy, fare: set.fare, withdrawn },
      'ride changed',
    );
    count(ride, change, at);
    publishRideChange(ctx, changed, concernedDrivers(ride, changed));
    // With `replacedBy`, the successor exists, so the event that names it need not wait any more (rebid.ts).
    const mayBeSent = change.event || set.replacedBy;
    await Promise.all([enqueueNextTimer(ctx, changed, ride), mayBeSent && enqueueNewEvent(ctx, changed)]);
    return { ride: changed, result };
  }
  throw new AppError('unavailable');
}

/** Returns a refusal, because it may be thrown only once the state that it is based on is committed. */
function tryDecision<Result>(decision: () => DecisionOutcome<Result>): DecisionOutcome<Result> | { refusal: unknown } {
  try {
    return decision();
  } catch (refusal) {
    return { refusal };
  }
}

async function announceAgain(ctx: Context, ride: RideState): Promise<void> {
  publishRideChange(ctx, ride, driversOf(ride));
  await Promise.all([enqueueNextTimer(ctx, ride), enqueueNextDelivery(ctx, ride)]);
}

function count(ride: RideState, { set, newOffer }: Change, at: Date): void {
  const { mode, offers, asked = [] } = ride;
  const sinceOpening = () => (at.getTime() - biddingSince(ride).getTime()) / 1_000;
  if (set.status) rideStatuses.inc({ status: set.status, mode });
  if (newOffer && offers.length === 0) firstOffer.observe({ mode }, sinceOpening());
  if (set.asked && set.asked.length > 0 && asked.length === 0) firstRequest.observe(sinceOpening());
}

/** Waits 20 to 50 ms for the majority. Throws NotYetCommitted after `giveUpAt` (monotonic ms). */
async function waitForCommit(giveUpAt: number): Promise<void> {
  if (performance.now() > giveUpAt) throw new NotYetCommitted();
  await setTimeout(20 + 30 * Math.random());
}

/** False if a failover could roll the state back, because the majority may not have the last write yet. */
async function isCommitted({ _id, rev }: RideState): Promise<boolean> {
  const options = committedReads();
  if (!options.readConcern) return true;
  return (await rides.findOne({ _id, rev }, { ...options, projection: { _id: 1 } })) !== null;
}

/** True if, by majority-committed data, the driver is on another ride. */
async function isOnAnotherRide(driverId: string, rideId: string): Promise<boolean> {
  const filter = {
    _id: { $ne: rideId },
    'driver.driverId': driverId,
    mode: 'live',
    status: { $in: movingStatuses },
  } as const;
  return (await rides.findOne(filter, { ...committedReads(), projection: { _id: 1 } })) !== null;
}

/** Adds the car's last reported position to a change that ends a live trip. */
async function withLastPosition(ride: RideState, change: Change): Promise<Change> {
  const endsTrip = ride.mode === 'live' && ride.driver && change.set.status && hasEnded(change.set.status);
  const lastPosition = endsTrip && (await findPosition(ride.driver?.driverId ?? ''));
  return lastPosition ? { ...change, set: { ...change.set, lastPosition } } : change;
}

/** The drivers whose pages change with a live ride: in their list of requests or in their own ride. Pure. */
export function concernedDrivers(before: RideState, after: RideState): string[] {
  if (after.mode !== 'live') return [];
  const asked = (after.asked ?? []).map(({ driverId }) => driverId);
  if (after.status !== before.status) {
    const own = after.driver ? [after.driver.driverId] : [];
    // When bidding ends, the ride leaves every driver's list of requests.
    return before.status === 'bidding' ? [...new Set([...own, ...asked])] : own;
  }
  if (after.fare !== before.fare) return asked;
  if (after.changes !== before.changes) return driversOf(after);
  if (after.driverNotes !== before.driverNotes && after.driver) return [after.driver.driverId];
  // Both lists are append-only.
  const changed = (after.asked ?? []).filter(({ declinedAt }, index) => {
    const earlier = before.asked?.[index];
    return !earlier || (declinedAt !== undefined && earlier.declinedAt === undefined);
  });
  const bidders = after.offers.filter((offer, index) => isNews(offer, before.offers[index]));
  return [...new Set([...changed, ...bidders.map(({ driver }) => driver)].map(({ driverId }) => driverId))];
}

const isNews = (offer: Offer, before: Offer | undefined): boolean => !before || isWithdrawn(offer, before);

const isWithdrawn = (offer: Offer, before: Offer | undefined): boolean =>
  offer.withdrawnAt !== undefined && before?.withdrawnAt === undefined;

/** The number of offers that a change has withdrawn. */
const withdrawnBetween = (before: RideState, after: RideState): number =>
  after.offers.filter((offer, index) => isWithdrawn(offer, before.offers[index])).length;

/** All drivers who may see a live ride: the drivers it was opened to, and its own driver. Pure. */
const driversOf = ({ mode, asked = [], driver }: RideState): string[] =>
  mode === 'live' ? [...new Set([...asked, ...(driver ? [driver] : [])].map(({ driverId }) => driverId))] : [];
