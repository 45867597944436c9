import type { Context } from '../context.ts';
import { drivers, isActive } from '../drivers/driver.ts';
import { goOffline, noteRide } from '../drivers/positions.ts';
import { AppError } from '../errors.ts';
import { mongoNow } from '../mongo/clock.ts';
import { timeLimit } from '../mongo/durability.ts';
import { applyAction } from './apply-action.ts';
import type { Command } from './decide.ts';
import { movingRidesOf } from './driver-rides.ts';
import { rides } from './ride.ts';
import type { Ride } from './ride-types.ts';

/**
 * Carries out what follows from whose ride is whose: a driver who is on a ride, or was suspended or revoked, has no live
 * offer; the ride of a suspended or revoked driver is cancelled; and the driver's position says whether the driver is
 * free. Can run twice or late, because it reads anew what is so. Resolves with the id of the ride that the driver is on,
 * or null. Throws when MongoDB is away.
 */
export async function settleDriver(ctx: Context, driverId: string): Promise<string | null> {
  // Before the reads below: what is noted as of this time was read after it.
  const asOf = await mongoNow();
  const [driver, moving] = await Promise.all([
    drivers.findOne(
      { _id: driverId },
      { ...timeLimit(), projection: { suspendedAt: 1, revokedAt: 1, leavesSince: 1 } },
    ),
    movingRidesOf([driverId]),
  ]);
  const rideId = moving.get(driverId) ?? null;
  const leaves = driver !== null && (!isActive(driver) || driver.leavesSince !== undefined);
  if (leaves) await goOffline(driverId);
  await noteRide(driverId, rideId, asOf);
  if (leaves && rideId) await applyIfAllowed(ctx, rideId, { action: 'cancel', by: 'driver' });
  if (leaves || rideId) await withdrawOffers(ctx, driverId);
  if (driver?.leavesSince) {
    await drivers.updateOne({ _id: driverId, leavesSince: driver.leavesSince }, { $unset: { leavesSince: '' } });
  }
  return rideId;
}

/** Withdraws every live offer of a driver. */
async function withdrawOffers(ctx: Context, driverId: string): Promise<void> {
  const open = await rides
    .find<Pick<Ride, '_id' | 'offers'>>(
      { mode: 'live', status: 'bidding', 'asked.driverId': driverId },
      { ...timeLimit(), projection: { offers: 1 } },
    )
    .toArray();
  for (const { _id, offers } of open) {
    const offer = offers.find((each) => each.driver.driverId === driverId && !each.withdrawnAt);
    if (offer) await applyIfAllowed(ctx, _id, { action: 'withdrawOffer', offerId: offer.offerId });
  }
}

/** A command that is no longer allowed has nothing left to do. */
async function applyIfAllowed(ctx: Context, rideId: string, command: Command): Promise<void> {
  await applyAction(ctx, rideId, command, 'anyone', { by: 'driver' }).catch((error) => {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
  });
}
