import type { Context } from '../../shared/context.ts';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { newKeyId } from '../../shared/ids.ts';
import type { PoolName } from '../../shared/queues.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { createRide, type NewRide } from '../../shared/rides/create-ride.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride, RideRequest, RideStatus, TimerName } from '../../shared/rides/ride-types.ts';
import { offerOn } from './ride-steps.ts';

/** What a test says of a ride that it makes without the API; a live one of a key of its own, where nothing is said. */
export type RideWish = Partial<RideRequest> & { keyId?: string; mode?: Ride['mode']; scenario?: NewRide['scenario'] };

const request: RideRequest = {
  pickup: { lat: 40.7128, lng: -74.006 },
  destination: { lat: 40.758, lng: -73.9855 },
  fare: 25,
  carType: 'regular',
  rideType: 'standard',
  passengerCount: 1,
  distanceKm: 5.31,
};

export async function newRide(ctx: Context, wish: RideWish = {}): Promise<string> {
  const { keyId = newKeyId(), mode = 'live', scenario, ...fields } = wish;
  const key = { keyId, accountId: 'acct_of_tests', mode };
  const ride = await createRide(ctx, { key, request: { ...request, ...fields }, scenario });
  return ride._id;
}

const pathTo: Record<RideStatus, readonly Command['action'][]> = {
  bidding: [],
  driver_arriving: ['accept'],
  arrived: ['accept', 'arrive'],
  in_progress: ['accept', 'arrive', 'start'],
  completed: ['accept', 'arrive', 'start', 'complete'],
  cancelled: ['cancel'],
};

/** A ride with two offers that has gone on to a status, with the first of them; a cancelled one was cancelled bidding. */
export async function rideThatIs(ctx: Context, status: RideStatus, wish?: RideWish) {
  const rideId = await newRide(ctx, wish);
  const { offerId } = await offerOn(ctx, rideId);
  const other = await offerOn(ctx, rideId);
  for (const action of pathTo[status]) {
    await applyAction(ctx, rideId, { action, offerId, by: 'partner' } as Command, 'anyone');
  }
  return { rideId, offerId, otherOfferId: other.offerId };
}

/** The ride as MongoDB has it, whole. */
export async function storedRide(rideId: string): Promise<Ride> {
  const ride = await rides.findOne({ _id: rideId });
  if (!ride) throw new Error(`there is no ride ${rideId}`);
  return ride;
}

export const statusesSent = (ride: Ride): string[] =>
  ride.events.map(({ body }) => JSON.parse(body).status ?? JSON.parse(body).event);

const longAgo = () => new Date(Date.now() - 60_000);

/** Moves a timer into the past, since time is MongoDB's own. */
export async function makeDue(rideId: string, name: TimerName, dueAt = longAgo()): Promise<void> {
  await rides.updateOne({ _id: rideId, 'timers.name': name }, { $set: { 'timers.$.dueAt': dueAt, nextDueAt: dueAt } });
}

/** The bidding time is over; nobody has acted on it yet. */
export async function endBidding(rideId: string): Promise<void> {
  await rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: longAgo() } });
  await makeDue(rideId, 'expire');
}

/** `done`, or the code of the AppError that an operation was refused with. */
export async function outcomeOf(operation: Promise<unknown>): Promise<'done' | ErrorCode> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** The job that a queue still has to do under a dedupe id. */
export async function jobFor(ctx: Context, pool: PoolName, id: string) {
  const jobId = await ctx.queues[pool].getDeduplicationJobId(id);
  return jobId ? ctx.queues[pool].getJob(jobId) : undefined;
}

/** Looks again and again until it is so: for what nobody announces. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
