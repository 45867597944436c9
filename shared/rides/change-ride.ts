import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { batchedFind, batchedWrite } from '../batch.ts';
import type { Context } from '../context.ts';
import { findPosition } from '../drivers/positions.ts';
import { AppError } from '../errors.ts';
import { firstOffer, rideStatuses } from '../metrics/metrics.ts';
import { committedReads } from '../mongo/durability.ts';
import { NotYetCommitted } from '../mongo/outage.ts';
import { limitSend, SendLimitPassed } from '../mongo/send-limit.ts';
import { publishRideChange } from '../wake.ts';
import { concernedDrivers, driversOf } from './concerned-drivers.ts';
import type { Change } from './decide.ts';
import { inTime, lastEventTime, positionOf, sendLimitMs, type When } from './event-position.ts';
import { eventBody } from './events.ts';
import { ageOf, copyLimitMs, feedMark } from './feed-mark.ts';
import { enqueueNextDelivery } from './outbox.ts';
import { type RideRef, readRide } from './read-ride.ts';
import { rides } from './ride.ts';
import { movingStatuses, type Origin, type Ride, type RideEvent, type RideState } from './ride-types.ts';
import { earliest, enqueueNextTimer } from './timers.ts';
import { trackUrl } from './track-url.ts';
import { hasEnded } from './transitions.ts';

/**
 * Decides how to change a ride as it was read. `now` is MongoDB's clock, read together with the ride. `at` is the time of
 * the change: `now`, or 1 ms after the ride's last event when that is later, so that `at` strictly increases. Null leaves
 * the ride as it is because the change was made before; `not yet` leaves it as it is because it is too early.
 */
export type Decision = (ride: RideState, at: Date, now: Date) => Change | null | 'not yet';

/** 50 concurrent offers need far fewer: beyond it, something other than contention is wrong. */
const maxRounds = 200;
/** How long a ride's state may take to reach the majority before it counts as an outage. */
const commitLimitMs = 1_000;

/**
 * THE way to change a ride: read it, decide in plain code, write on condition that its `rev` is unchanged; when another
 * process was first, repeat. Resolves with the ride after the change, with the unchanged ride when `decision` returns
 * null, or with null when the ride is unknown or belongs to another owner. An error thrown by `decision` is rethrown
 * and nothing is written. A result or error never reports a state that a failover could roll back: it waits until the
 * majority has that state, and throws NotYetCommitted after one second. A change that was made before gets its jobs and
 * wake-ups again: its process may have lost MongoDB's answer before it added them. Throws `driver_busy` when the change would give
 * a driver a second moving ride, and `unavailable` after 200 lost races. `origin` is kept with the change's event.
 */
export async function changeRide(
  ctx: Context,
  { rideId, owner }: RideRef,
  decision: Decision,
  origin?: Origin,
): Promise<RideState | null> {
  const giveUpAt = performance.now() + commitLimitMs;
  for (let round = 0; round < maxRounds; round++) {
    const [read, mark] = await Promise.all([readRide({ rideId, owner }), feedMark()]);
    if (!read) return null;
    const { ride, now } = read;
    const at = new Date(Math.max(now.getTime(), lastEventTime(ride) + 1));
    const { change, refusal } = decided(() => decision(ride, at, now));
    if (!change || change === 'not yet') {
      if (!(await isCommitted(ride))) {
        await waitForCommit(giveUpAt);
        continue;
      }
      if (refusal) throw refusal;
      if (!change) await announceAgain(ctx, ride);
      return ride;
    }
    const complete = await withLastPosition(ride, change);
    // The event could come too late for the feed: decide again, with a newer mark.
    if (change.event && ageOf(mark) > copyLimitMs) continue;
    const changed = await write(ctx, ride, complete, { at, now, mark, origin });
    if (changed === 'driver_busy') {
      if (await isOnAnotherRide(ride, change)) throw new AppError('driver_busy');
      await waitForCommit(giveUpAt);
      continue;
    }
    if (!changed) continue;
    const { status, seq, rev, cancelledBy } = changed;
    const { event, set } = change;
    const requestId = origin?.requestId ?? changed.origin?.requestId;
    ctx.log.info(
      { requestId, rideId, keyId: changed.keyId, status, rev, seq, event, cancelledBy, fare: set.fare },
      'ride changed',
    );
    count(ride, change, at);
    publishRideChange(ctx, changed, concernedDrivers(ride, changed));
    await Promise.all([
      enqueueNextTimer(ctx, changed, ride),
      // The write that makes an event the oldest unsettled one adds its job; otherwise settling the event before it
      // does.
      change.event && changed.seq === changed.settledSeq + 1 && enqueueNextDelivery(ctx, changed),
    ]);
    return changed;
  }
  throw new AppError('unavailable');
}

async function announceAgain(ctx: Context, ride: RideState): Promise<void> {
  publishRideChange(ctx, ride, driversOf(ride));
  await Promise.all([enqueueNextTimer(ctx, ride), enqueueNextDelivery(ctx, ride)]);
}

function count({ mode, offers, createdAt }: RideState, { set, newOffer }: Change, at: Date): void {
  if (set.status) rideStatuses.inc({ status: set.status, mode });
  if (newOffer && offers.length === 0) firstOffer.observe({ mode }, (at.getTime() - createdAt.getTime()) / 1_000);
}

/** Keeps a thrown refusal: it is reported only once the state that it was decided on is committed. */
function decided(decision: () => ReturnType<Decision>): { change: ReturnType<Decision>; refusal?: unknown } {
  try {
    return { change: decision() };
  } catch (refusal) {
    return { change: null, refusal };
  }
}

/** Waits 20 to 50 ms for the majority. Throws NotYetCommitted after `giveUpAt` (monotonic ms). */
async function waitForCommit(giveUpAt: number): Promise<void> {
  if (performance.now() > giveUpAt) throw new NotYetCommitted();
  await setTimeout(20 + 30 * Math.random());
}

/**
 * Whether this state can no longer be rolled back: on a replica set the last write may not have reached the majority.
 */
async function isCommitted({ _id, rev }: RideState): Promise<boolean> {
  const options = committedReads();
  if (!options.readConcern) return true;
  return (await rides.findOne({ _id, rev }, { ...options, projection: { _id: 1 } })) !== null;
}

/** Whether the driver that the change assigns drives another ride, which no failover can roll back. */
async function isOnAnotherRide({ _id }: RideState, { set }: Change): Promise<boolean> {
  const driverId = set.driver?.driverId;
  const filter = {
    _id: { $ne: _id },
    'driver.driverId': driverId,
    mode: 'live',
    status: { $in: movingStatuses },
  } as const;
  return (await rides.findOne(filter, { ...committedReads(), projection: { _id: 1 } })) !== null;
}

/** Adds where the car was last seen to a change that ends a live trip. */
async function withLastPosition(ride: RideState, change: Change): Promise<Change> {
  const endsTrip = ride.mode === 'live' && ride.driver && change.set.status && hasEnded(change.set.status);
  const lastPosition = endsTrip && (await findPosition(ride.driver?.driverId ?? ''));
  return lastPosition ? { ...change, set: { ...change.set, lastPosition } } : change;
}

const update = batchedWrite<Ride>(rides);
const readOutbox = batchedFind<Ride, Pick<Ride, '_id' | 'settledSeq'>>(rides, '_id', { settledSeq: 1 });

/**
 * Writes the change in one update. Resolves with null when another write was first, the bidding deadline has passed or
 * the event would come too late for the feed, and with `driver_busy` when the driver that it assigns has another moving ride.
 */
async function write(
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
  return {
    ...next,
    rev: ride.rev + 1,
    nextDueAt,
    ...lastEvent,
    seq,
    settledSeq,
    unsettled: seq - settledSeq,
  };
}

/**
 * The change is made, so its answer must not depend on this reading: where it fails, all events count as settled, and the
 * job that is added too early finds that it is not its turn.
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
    if (error instanceof mongoose.mongo.MongoServerError && error.code === 11_000) return 'driver_busy';
    throw error;
  }
}
