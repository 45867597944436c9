import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { durableRead } from '../../base/mongo/fence.ts';
import { type ActiveDriver, drivers, isActive } from '../../drivers/driver.ts';
import { applyAction } from '../apply-action.ts';
import { changeRide } from '../change-ride.ts';
import { decide } from '../decide.ts';
import { readRide } from '../read-ride.ts';
import type { Offer, Origin } from '../ride-types.ts';
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
