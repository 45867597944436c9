import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import { mongoNow } from '../../base/mongo/clock.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { type Commitment, driverSessions, drivers, isActive } from '../../drivers/driver.ts';
import { unknownDriver } from '../../drivers/manage-drivers.ts';
import { goOffline, noteRide, readCounts } from '../../drivers/positions.ts';
import { applyAction } from '../change-ride.ts';
import { commitmentsOf } from './driver-rides.ts';

const fields = { suspendedAt: 1, revokedAt: 1, leavesSince: 1, left: 1 } as const;

/**
 * Applies the consequences of a driver getting or losing a ride, or being suspended: withdraws the live offers of a
 * driver who is on a ride, ends the ride and the offers of a suspended or revoked driver, and notes in the driver's
 * position whether the driver is free. A driver who was resumed loses only what was there before. Can run twice or
 * late. Resolves with the id of the ride that the driver was on, or null, and whether the driver is active. Throws when
 * MongoDB is away.
 */
export async function settleDriver(
  ctx: Context,
  driverId: string,
): Promise<{ rideId: string | null; isActive: boolean }> {
  for (;;) {
    const [counts, commitments] = await Promise.all([readCounts(driverId), commitmentsOf(driverId)]);
    // Read last: if the driver is suspended now, nothing that was read above is from after a later resume.
    const driver = await drivers.findOne({ _id: driverId }, { ...timeLimit(), projection: fields });
    const isGone = driver !== null && !isActive(driver);
    const rideId = commitments.find(({ offerId }) => offerId === undefined)?.rideId ?? null;
    if (isGone && counts) await goOffline(driverId, counts);
    if (counts && !(await noteRide(driverId, rideId, counts))) continue;

    const offers = commitments.filter(({ offerId }) => offerId !== undefined);
    const { leavesSince, left = [] } = driver ?? {};
    await end(ctx, isGone ? commitments : rideId ? offers : []);
    await end(ctx, left);
    if (leavesSince) {
      const asRead = { _id: driverId, leavesSince, left: driver?.left ?? { $exists: false } };
      await drivers.updateOne(asRead, { $unset: { leavesSince: '', left: '' } });
    }
    return { rideId, isActive: !isGone };
  }
}

/**
 * Accepts the driver's key again. The driver is offline and signs in anew. The ride and the offers that the suspension
 * was to end are still ended, if no sweep came in between; later ones are not.
 */
export async function resumeDriver(driverId: string): Promise<void> {
  // Also a session that was made while the driver was being suspended.
  await driverSessions.endAll(driverId);
  for (;;) {
    const driver = await drivers.findOne({ _id: driverId, revokedAt: { $exists: false } });
    if (!driver) throw unknownDriver();
    if (!driver.suspendedAt) return;
    // While the driver is still suspended, so that nothing that comes after the resume is among it.
    const left = [...(driver.left ?? []), ...(await commitmentsOf(driverId))];
    await goOffline(driverId);
    const { matchedCount } = await drivers.updateOne(
      { _id: driverId, suspendedAt: driver.suspendedAt, revokedAt: { $exists: false } },
      left.length > 0
        ? { $set: { left, leavesSince: await mongoNow() }, $unset: { suspendedAt: '' } }
        : { $unset: { suspendedAt: '', leavesSince: '', left: '' } },
    );
    if (matchedCount > 0) return;
  }
}

/** Cancels a ride of the driver, and withdraws the driver's offers. */
async function end(ctx: Context, commitments: readonly Commitment[]): Promise<void> {
  for (const { rideId, offerId } of commitments) {
    const command = offerId
      ? ({ action: 'withdrawOffer', offerId } as const)
      : ({ action: 'cancel', by: 'driver' } as const);
    await applyAction(ctx, rideId, command, 'anyone', { by: 'driver' }).catch((error) => {
      // A command that is no longer allowed has nothing left to do.
      if (!(error instanceof AppError) || error.status !== 409) throw error;
    });
  }
}
