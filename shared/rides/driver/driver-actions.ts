import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { durableRead } from '../../base/mongo/durable-read.ts';
import { type ActiveDriver, drivers, isActive } from '../../drivers/driver.ts';
import { canCarry, removeFromRequestLists } from '../../drivers/nearby.ts';
import { applyAction, changeRide } from '../change-ride.ts';
import { askedWithout, offersWithout } from '../changed-fields.ts';
import type { Command } from '../decide.ts';
import { notesSeen } from '../driver-notes.ts';
import { askTimer } from '../offers.ts';
import { applyWithPin } from '../pin.ts';
import type { Offer, Origin, RideState, RideStatus } from '../ride-types.ts';
import { hasEnded, transitions } from '../transitions.ts';
import { movingRidesOf } from './driver-rides.ts';

/**
 * Makes a driver's offer on a ride that was opened to the driver. Throws `ride_not_found` for any other ride,
 * `on_a_ride` while the driver has a moving ride, `equipment_missing` for a ride with other needs or more passengers than
 * seats, and what `decide` throws for an offer.
 */
export async function makeOffer(
  ctx: Context,
  rideId: string,
  terms: { price: number; etaMinutes: number },
  { carType: _, seats, own: __, equipment, ...driver }: ActiveDriver,
  origin?: Origin,
): Promise<Offer> {
  const { driverId } = driver;
  const isBusy = await isOnARide(driverId);
  const offer = (ride: RideState): Command => {
    if (isBusy) throw new AppError('on_a_ride');
    // The partner may have changed the ride since the driver was asked.
    if (!canCarry(ride, { seats, equipment })) throw new AppError('equipment_missing');
    return { action: 'offer', driver, ...terms };
  };
  const { offers } = await applyAction(ctx, rideId, offer, { driverId }, origin);
  const made = offers.at(-1) as Offer;
  await withdrawIfGone(ctx, rideId, made, driverId);
  return made;
}

/** True if the driver has a moving ride, in a state that no failover can roll back. */
async function isOnARide(driverId: string): Promise<boolean> {
  const moving = await durableRead(
    () => movingRidesOf([driverId]),
    (found) => found.size === 0,
  );
  return moving.size > 0;
}

/**
 * Withdraws the offer if the driver has been chosen for another ride or suspended since the checks. settleDriver
 * withdraws such offers too, but it may have run before this offer was written.
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
 * Withdraws a driver's own offer. A repeat does nothing. Throws `ride_not_found` or `offer_not_found` if the driver has
 * no such offer, and `ride_not_bidding` when bidding has ended.
 */
export async function withdrawOwnOffer(
  ctx: Context,
  rideId: string,
  offerId: string,
  owner: { driverId: string },
): Promise<void> {
  const withdrawal = ({ offers }: RideState): Command | null => {
    const offer = offers.find((each) => each.offerId === offerId);
    if (offer?.driver.driverId !== owner.driverId) throw new AppError('offer_not_found');
    return offer.withdrawnAt ? null : { action: 'withdrawOffer', offerId };
  };
  await applyAction(ctx, rideId, withdrawal, owner);
}

/**
 * Declines a request: withdraws the driver's live offer, removes the ride from the driver's requests, and makes room
 * for another request. A repeat, or a ride that is no longer open, changes nothing. Throws `ride_not_found` for a ride
 * that was not opened to the driver.
 */
export async function declineRequest(
  ctx: Context,
  rideId: string,
  owner: { driverId: string },
  origin?: Origin,
): Promise<void> {
  const { driverId } = owner;
  const declined = await changeRide(
    ctx,
    { rideId, owner },
    (ride, at, now) => {
      const { status, asked = [] } = ride;
      const isOpen = status === 'bidding' && asked.some((each) => each.driverId === driverId && !each.declinedAt);
      const declining = new Set([driverId]);
      const offers = offersWithout(ride, declining, at);
      const ask = askTimer(ride, offers, now);
      const set = {
        asked: askedWithout(ride, declining, at),
        offers,
        ...(ask.length > 0 && { timers: [...ride.timers.filter(({ name }) => name !== 'ask'), ...ask] }),
      };
      return { change: isOpen ? { set } : null, result: null };
    },
    origin,
  );
  if (!declined) throw new AppError('ride_not_found');
  await removeFromRequestLists([driverId], rideId);
}

/** The steps of an assigned driver, in the order of a trip, and `cancel`, which ends the ride. */
export type DriverStep = 'arrive' | 'start' | 'complete' | 'cancel';

const inOrder = ['accept', 'arrive', 'start', 'complete'] as const;

/**
 * Applies a step of a driver to the driver's own ride. Resolves with the status that the step leads to. Idempotent: a
 * driver can repeat a step after a lost answer, even if the ride has changed since. Throws `not_own_ride` for any other
 * ride, `illegal_step` or `ride_ended` for a step that is not the next one, and `wrong_pin` and `pin_locked` for a start.
 */
export async function applyDriverStep(
  ctx: Context,
  rideId: string,
  step: DriverStep,
  owner: { driverId: string },
  origin?: Origin,
  pin?: string,
): Promise<RideStatus> {
  const command = (ride: RideState): Command | null => {
    if (ride.driver?.driverId !== owner.driverId) throw new AppError('not_own_ride');
    if (wasApplied(ride, step)) return null;
    return step === 'cancel' ? { action: step, by: 'driver' } : { action: step };
  };
  if (!(await applyWithPin(ctx, { rideId, owner }, command, pin, origin))) throw new AppError('not_own_ride');
  return transitions[step].to;
}

/**
 * Marks the messages up to a number (driver-notes.ts) as seen by the driver of the ride. A repeat, or a ride that has
 * ended, changes nothing. Throws `not_own_ride` for any other ride.
 */
export async function markNotesSeen(
  ctx: Context,
  rideId: string,
  upTo: number,
  owner: { driverId: string },
): Promise<void> {
  const changed = await changeRide(ctx, { rideId, owner }, (ride, at) => {
    if (ride.driver?.driverId !== owner.driverId) throw new AppError('not_own_ride');
    const driverNotes = hasEnded(ride.status) ? null : notesSeen(ride, upTo, at);
    return { change: driverNotes && { set: { driverNotes } }, result: null };
  });
  if (!changed) throw new AppError('not_own_ride');
}

/** True if the step was already applied to this ride. */
function wasApplied(
  ride: Pick<RideState, 'seq' | 'offers' | 'offersCount' | 'status' | 'cancelledBy'>,
  step: DriverStep,
): boolean {
  if (step === 'cancel') return ride.cancelledBy === 'driver';
  // Each offer and each change of status has exactly one event, so this is the number of changes of status.
  const changes = ride.seq - (ride.offersCount ?? ride.offers.length);
  const steps = ride.status === 'cancelled' ? changes - 1 : changes;
  return inOrder.indexOf(step) < steps;
}
