import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { durableRead } from '../../base/mongo/durable-read.ts';
import { type ActiveDriver, drivers, isActive } from '../../drivers/driver.ts';
import { applyAction, changeRide, type Decision } from '../change-ride.ts';
import { decide } from '../decide.ts';
import { readRide } from '../read-ride.ts';
import type { Offer, Origin, RideState, RideStatus } from '../ride-types.ts';
import { transitionOf } from '../transitions.ts';
import { movingRidesOf } from './driver-rides.ts';

/**
 * Makes a driver's offer on a ride that was opened to the driver. Throws `ride_not_found` for any other ride,
 * `on_a_ride` while the driver is on one, and what `decide` throws for an offer.
 */
export async function makeOffer(
  ctx: Context,
  rideId: string,
  terms: { price: number; etaMinutes: number },
  { carType: _, seats: __, ...driver }: ActiveDriver,
  origin?: Origin,
): Promise<Offer> {
  const { driverId } = driver;
  const [read, isBusy] = await Promise.all([readRide({ rideId, owner: { driverId } }), isOnARide(driverId)]);
  if (!read) throw new AppError('ride_not_found');
  if (isBusy) throw new AppError('on_a_ride');
  const ride = await applyAction(ctx, rideId, { action: 'offer', driver, ...terms }, { driverId }, origin);
  const offer = ride.offers.at(-1) as Offer;
  await withdrawIfGone(ctx, rideId, offer, driverId);
  return offer;
}

/** A driver is refused only for a ride that no failover takes back. */
async function isOnARide(driverId: string): Promise<boolean> {
  const moving = await durableRead(
    () => movingRidesOf([driverId]),
    (found) => found.size === 0,
  );
  return moving.size > 0;
}

/**
 * A driver who was chosen elsewhere, or suspended, since the checks: the other offers were withdrawn before this one
 * existed.
 */
async function withdrawIfGone(ctx: Context, rideId: string, { offerId }: Offer, driverId: string): Promise<void> {
  const [moving, found] = await Promise.all([
    movingRidesOf([driverId]),
    drivers.findOne({ _id: driverId }, { ...timeLimit(), projection: { suspendedAt: 1, revokedAt: 1 } }),
  ]);
  const isElsewhere = moving.has(driverId) && moving.get(driverId) !== rideId;
  if (!isElsewhere && found && isActive(found)) return;
  await withdrawOwnOffer(ctx, rideId, offerId, { driverId });
  throw new AppError(isElsewhere ? 'on_a_ride' : 'unauthorized');
}

/**
 * Withdraws a driver's own offer; once more does nothing. Throws `ride_not_found` or `offer_not_found` where there is no
 * such offer of the driver, and `ride_not_bidding` when it is too late.
 */
export async function withdrawOwnOffer(
  ctx: Context,
  rideId: string,
  offerId: string,
  owner: { driverId: string },
): Promise<void> {
  const ride = await changeRide(ctx, { rideId, owner }, (current, at) => {
    const offer = current.offers.find((each) => each.offerId === offerId);
    if (offer?.driver.driverId !== owner.driverId) throw new AppError('offer_not_found');
    return offer.withdrawnAt ? null : decide(current, { action: 'withdrawOffer', offerId }, at, ctx.config);
  });
  if (!ride) throw new AppError('ride_not_found');
}

/** The steps of a chosen driver, in the order of a trip; and `cancel`, which ends it. */
export type DriverStep = 'arrive' | 'start' | 'complete' | 'cancel';

const inOrder = ['accept', 'arrive', 'start', 'complete'] as const;

/**
 * Takes a step of a driver in the driver's own ride. Resolves with the status that the step leads to; also when it was
 * taken before, whatever has happened since, so that a driver can send it again after a lost answer. Throws
 * `not_own_ride` for any other ride and `illegal_step` or `ride_ended` for a step that is not the next one.
 */
export async function takeDriverStep(
  ctx: Context,
  rideId: string,
  step: DriverStep,
  owner: { driverId: string },
  origin?: Origin,
): Promise<RideStatus> {
  const decision: Decision = (current, at) => {
    if (current.driver?.driverId !== owner.driverId) throw new AppError('not_own_ride');
    if (wasTaken(current, step)) return null;
    return decide(current, step === 'cancel' ? { action: step, by: 'driver' } : { action: step }, at, ctx.config);
  };
  const ride = await changeRide(ctx, { rideId, owner }, decision, origin);
  if (!ride) throw new AppError('not_own_ride');
  return transitionOf(step).to;
}

/** Whether the driver has taken the step in this ride. */
function wasTaken(ride: Pick<RideState, 'seq' | 'offers' | 'status' | 'cancelledBy'>, step: DriverStep): boolean {
  if (step === 'cancel') return ride.cancelledBy === 'driver';
  // Each offer and each change of status has had one event.
  const changes = ride.seq - ride.offers.length;
  const steps = ride.status === 'cancelled' ? changes - 1 : changes;
  return inOrder.indexOf(step) < steps;
}
