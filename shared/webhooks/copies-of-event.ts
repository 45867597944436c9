import type { Context } from '../base/context.ts';
import { copyAttemptId, eventId, withdrawnEventId } from '../base/ids.ts';
import { insertDocuments } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import { committedReads } from '../base/mongo/durability.ts';
import { endpointsOf } from '../keys/endpoints.ts';
import { timeOf, trackUrl, withdrawnBody } from '../rides/events.ts';
import { fireTimer, type TimerResult } from '../rides/fire-timer.ts';
import { readRide } from '../rides/read-ride.ts';
import { rides } from '../rides/ride.ts';
import type { Ride, RideEvent } from '../rides/ride-types.ts';
import { enqueueNextRedeliveries } from './attempt-jobs.ts';
import { type AttemptRecord, attempts, eventFields, waitingUntil } from './attempts.ts';

/** An event as each of its copies has it. */
type CopiedEvent = Pick<AttemptRecord, 'event' | 'rideStatus' | 'seq' | 'at' | 'offerId' | 'body' | 'requestId'> & {
  eventId: string;
};

/** The request that caused an event of a ride, or else the one that created the ride. */
export const requestIdOf = ({ origin }: Pick<Ride, 'origin'>, { requestId }: RideEvent): string | undefined =>
  requestId ?? origin?.requestId;

export function copiedEvent(ride: Pick<Ride, '_id' | 'origin'>, event: RideEvent): CopiedEvent {
  const requestId = requestIdOf(ride, event);
  return {
    eventId: eventId(ride._id, event.seq),
    at: timeOf(event),
    ...eventFields(event),
    ...(requestId && { requestId }),
  };
}

/**
 * Stores the attempts of events of a ride for the further endpoints that want them, and adds the jobs of those that are
 * next. Idempotent: the id of a copy names the event and the endpoint, so a repeat stores nothing again. Throws if
 * MongoDB refuses one.
 */
export async function storeCopies(
  ctx: Context,
  ride: Pick<Ride, '_id' | 'accountId' | 'keyId' | 'mode'>,
  events: readonly CopiedEvent[],
): Promise<void> {
  const open = (await endpointsOf(ride.keyId)).filter(({ disabledAt }) => !disabledAt);
  const copies = events.flatMap(({ eventId, ...event }) =>
    open
      .filter((endpoint) => endpoint.events.includes(event.event))
      .map(
        ({ _id: endpointId }): AttemptRecord => ({
          _id: copyAttemptId(event.at.getTime(), eventId, endpointId),
          accountId: ride.accountId,
          keyId: ride.keyId,
          mode: ride.mode,
          kind: 'event',
          ...event,
          endpointId,
          rideId: ride._id,
          ...waitingUntil(event.at),
        }),
      ),
  );
  if (copies.length === 0) return;
  const refused = (await insertDocuments(attempts, copies)).find((error) => error && !isDuplicate(error));
  if (refused) throw refused;
  await enqueueNextRedeliveries(ctx, [ride._id]);
}

const unsettledFields = {
  accountId: 1,
  keyId: 1,
  mode: 1,
  origin: 1,
  events: { $slice: ['$events', '$settledSeq', { $add: [{ $size: '$events' }, 1] }] },
} as const;
type UnsettledRide = Pick<Ride, '_id' | keyof typeof unsettledFields>;

/**
 * Stores the copies of all events of a ride that are not settled, in order, so that no further endpoint waits until the
 * default URL has had the earlier ones. Stores nothing for a held ride, and while the last event waits for the next ride
 * (rebid.ts). Throws like `storeCopies`.
 */
export async function copyUnsettled(ctx: Context, rideId: string): Promise<void> {
  const ride = await rides.findOne<UnsettledRide>(
    { _id: rideId, heldAt: { $exists: false }, 'timers.name': { $ne: 'rebid' } },
    // Only what no failover can roll back may be sent.
    { ...committedReads(), projection: unsettledFields },
  );
  if (!ride) return;
  await storeCopies(
    ctx,
    ride,
    ride.events.map((event) => copiedEvent(ride, event)),
  );
}

/**
 * Stores the events `offer.withdrawn` that a ride owes for the endpoints that want them, and then fires its timer
 * `withdrawn`, whose write removes what is stored. The change of the ride has set the timer and named the offers.
 * Idempotent: a second run stores nothing again. Throws if MongoDB is unavailable.
 */
export async function storeOwedWithdrawals(ctx: Context, rideId: string): Promise<TimerResult> {
  const read = await readRide({ rideId, owner: 'anyone' });
  if (!read?.ride.timers.some(({ name }) => name === 'withdrawn')) return { result: 'stale' };
  const { ride } = read;
  const owed = new Set(ride.withdrawalsOwed);
  const withdrawn = ride.offers.flatMap((offer) => {
    const { offerId, withdrawnAt: at } = offer;
    if (!owed.has(offerId) || !at) return [];
    const eventId = withdrawnEventId(rideId, offerId);
    const url = trackUrl(ctx.config.trackBaseUrl, ride);
    const body = withdrawnBody({ ride, offer, eventId, at: at.getTime(), trackUrl: url });
    return [{ eventId, event: 'offer.withdrawn' as const, offerId, at, body }];
  });
  await storeCopies(ctx, ride, withdrawn);
  return fireTimer(ctx, rideId, 'withdrawn', ({ withdrawalsOwed = [] }) => ({
    set: { withdrawalsOwed: withdrawalsOwed.filter((offerId) => !owed.has(offerId)) },
  }));
}
