import { setTimeout } from 'node:timers/promises';
import { batchedUpdate } from '../batch.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { committedReads } from '../mongo/durability.ts';
import { NotYetCommitted } from '../mongo/outage.ts';
import type { Change } from './decide.ts';
import { eventBody } from './events.ts';
import { enqueueNextDelivery, type Outbox } from './outbox.ts';
import { type RideRef, readRide } from './read-ride.ts';
import { rides } from './ride.ts';
import type { Ride, RideEvent, RideState } from './ride-types.ts';
import { earliest, enqueueNextTimer } from './timers.ts';
import { trackUrl } from './track-url.ts';

/**
 * What one attempt to change a ride is decided on. `now` is MongoDB's clock, read together with the ride; `at` is the
 * time the change will carry: `now`, or just after the ride's last event, so that `at` always rises.
 */
export type Decision = (ride: RideState, at: Date, now: Date) => Change | null;

/** Far more than 50 concurrent offers need; past it something other than contention is wrong. */
const maxRounds = 200;
/** How long a ride's state may take to reach the majority before that counts as an outage. */
const commitPatienceMs = 1_000;

/**
 * THE way to change a ride: read, decide in plain code, write if the ride is still what was read, else again. Resolves
 * with the ride as it then stands, also where `decision` returned null and nothing was written; with null where there is
 * no such ride. What `decision` throws passes through, and nothing was written. Neither is told of a state that a failover
 * can still take back: that is waited for, and throws NotYetCommitted after a second.
 */
export async function changeRide(
  ctx: Context,
  { rideId, owner }: RideRef,
  decision: Decision,
): Promise<RideState | null> {
  const giveUpAt = performance.now() + commitPatienceMs;
  for (let round = 0; round < maxRounds; round++) {
    const read = await readRide({ rideId, owner });
    if (!read) return null;
    const { ride, now } = read;
    const at = new Date(Math.max(now.getTime(), (ride.lastEventAt?.getTime() ?? 0) + 1));
    const { change, refusal } = decided(() => decision(ride, at, now));
    if (!change) {
      if (!(await isCommitted(ride))) {
        await waitForCommit(giveUpAt);
        continue;
      }
      if (refusal) throw refusal;
      return ride;
    }
    const changed = await write(ctx, ride, change, at);
    if (!changed) continue;
    const { status, seq, rev, cancelledBy } = changed;
    ctx.log.info({ rideId, keyId: changed.keyId, status, rev, seq, event: change.event, cancelledBy }, 'ride changed');
    await Promise.all([
      enqueueNextTimer(ctx, changed, ride),
      // Whoever makes an event the oldest unsettled one adds its job: the ride after one's own write tells.
      change.event && changed.seq === changed.settledSeq + 1 && enqueueNextDelivery(ctx, changed),
    ]);
    return changed;
  }
  throw new AppError('unavailable');
}

/** A refusal is kept: like a ride that stays as it is, it is answered only when the state that it follows from lasts. */
function decided(decision: () => Change | null): { change: Change | null; refusal?: unknown } {
  try {
    return { change: decision() };
  } catch (refusal) {
    return { change: null, refusal };
  }
}

/** Pauses until it is worth looking again. */
async function waitForCommit(giveUpAt: number): Promise<void> {
  if (performance.now() > giveUpAt) throw new NotYetCommitted();
  await setTimeout(20 + 30 * Math.random());
}

/** Whether this very state can be answered for: on a replica set another's write may still be rolled back. */
async function isCommitted({ _id, rev }: RideState): Promise<boolean> {
  const options = committedReads();
  if (!options.readConcern) return true;
  return (await rides.findOne({ _id, rev }, { ...options, projection: { _id: 1 } })) !== null;
}

const update = batchedUpdate<Ride, Outbox>(rides, { settledSeq: 1 });

/** One update, or null where someone else was first or the deadline has just passed. */
async function write(ctx: Context, ride: RideState, change: Change, at: Date): Promise<RideState | null> {
  const { newOffer, event } = change;
  const nextDueAt = change.set.timers ? earliest(change.set.timers) : ride.nextDueAt;
  const next: RideState = { ...ride, ...change.set, offers: change.set.offers ?? [...ride.offers] };
  if (newOffer) next.offers.push(newOffer);
  const newEvent: RideEvent | undefined = event && {
    seq: ride.seq + 1,
    event,
    at,
    body: eventBody({
      event,
      at: at.getTime(),
      ride: next,
      offer: newOffer,
      trackUrl: trackUrl(ctx.config.trackBaseUrl, ride),
    }),
  };
  const written = await update({
    filter: {
      _id: ride._id,
      rev: ride.rev,
      ...(change.beforeDeadline && { $expr: { $lt: ['$$NOW', '$biddingEndsAt'] } }),
    },
    change: {
      $set: {
        ...change.set,
        ...(nextDueAt && { nextDueAt }),
        ...(newEvent && { seq: newEvent.seq, lastEventAt: at }),
        // Settling does it for an event that others are before.
        ...(newEvent && ride.settledSeq === ride.seq && { unsettledSince: at }),
      },
      ...(!nextDueAt && { $unset: { nextDueAt: '' } }),
      $inc: { rev: 1, unsettled: newEvent ? 1 : 0 },
      $push: { ...(newOffer && { offers: newOffer }), ...(newEvent && { events: newEvent }) },
    },
  });
  if (!written) return null;
  const { settledSeq } = written;
  const seq = newEvent?.seq ?? ride.seq;
  return {
    ...next,
    rev: ride.rev + 1,
    nextDueAt,
    ...(newEvent && { lastEventAt: at }),
    seq,
    settledSeq,
    unsettled: seq - settledSeq,
  };
}
