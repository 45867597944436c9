import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import type { Point } from '../../base/great-circle.ts';
import { mongoNow } from '../../base/mongo/clock.ts';
import { timeLimit } from '../../base/mongo/durability.ts';
import { durableRead } from '../../base/mongo/durable-read.ts';
import { goOffline, goOnline, noteRide, readCounts } from '../../drivers/change-availability.ts';
import { type ActiveDriver, type Commitment, driverSessions, drivers, isActive } from '../../drivers/driver.ts';
import { unknownDriver } from '../../drivers/manage-drivers.ts';
import { applyAction } from '../apply-action.ts';
import { RideHeld } from '../change-ride.ts';
import { commitmentsOf } from './driver-rides.ts';

const fields = { suspendedAt: 1, revokedAt: 1, leavesSince: 1, left: 1 } as const;

/**
 * Applies the consequences of a driver getting or losing a ride, or being suspended. Withdraws the live offers of a
 * driver who is on a ride, ends the ride and the offers of a suspended or revoked driver, and marks the driver as free
 * or busy for dispatch. A resumed driver loses only the ride and offers from before the resume.
 *
 * A held ride of a restored backup stays as it is, and does not keep the driver from working. What a driver has to leave
 * stays recorded until it is released, and the sweeper settles the driver again.
 *
 * Idempotent, and may run late. Resolves with the id of the driver's moving ride (null if none), and with `isActive`.
 * Throws if MongoDB is unavailable.
 */
export async function settleDriver(
  ctx: Context,
  driverId: string,
): Promise<{ rideId: string | null; isActive: boolean }> {
  for (;;) {
    const [counts, commitments] = await Promise.all([readCounts(driverId), commitmentsOf(driverId)]);
    // Reads the driver last. If the driver is suspended at that time, everything that was read above is from before the
    // next resume.
    const driver = await drivers.findOne({ _id: driverId }, { ...timeLimit(), projection: fields });
    const isGone = driver !== null && !isActive(driver);
    const rideId = commitments.find(({ offerId }) => offerId === undefined)?.rideId ?? null;
    if (isGone && counts) await goOffline(driverId, counts);
    if (counts && !(await noteRide(driverId, rideId, counts))) continue;

    const offers = commitments.filter(({ offerId }) => offerId !== undefined);
    const { leavesSince, left = [] } = driver ?? {};
    const isEnded = await end(ctx, isGone ? commitments : rideId ? offers : []);
    const isLeft = await end(ctx, left);
    if (leavesSince && isEnded && isLeft) {
      const asRead = { _id: driverId, leavesSince, left: driver?.left ?? { $exists: false } };
      await drivers.updateOne(asRead, { $unset: { leavesSince: '', left: '' } });
    }
    return { rideId, isActive: !isGone };
  }
}

/**
 * Puts a driver online at a place. Resolves with false for a driver who is on a ride, and is available after it. Throws
 * `unauthorized` if the driver was suspended in the meantime; `settleDriver` has then put the driver offline again.
 */
export async function putOnline(ctx: Context, driver: ActiveDriver, place: Point): Promise<boolean> {
  await goOnline(driver, place, new Date(ctx.now()));
  const { rideId, isActive } = await durableRead(
    () => settleDriver(ctx, driver.driverId),
    (settled) => settled.rideId === null && settled.isActive,
  );
  if (!isActive) throw new AppError('unauthorized');
  return rideId === null;
}

/**
 * Resumes a suspended driver: accepts the driver's key again. The driver is offline and must sign in again. The ride
 * and the offers from before the resume are ended even if no sweep has run since the suspension; later ones are not.
 */
export async function resumeDriver(driverId: string): Promise<void> {
  // This also ends a session that was started during the suspension.
  await driverSessions.endAll(driverId);
  for (;;) {
    const driver = await drivers.findOne({ _id: driverId, revokedAt: { $exists: false } });
    if (!driver) throw unknownDriver();
    if (!driver.suspendedAt) return;
    // Reads the commitments while the driver is still suspended, so that all of them are from before the resume.
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

/** Cancels the rides and withdraws the offers. Resolves with false if a ride is held, and stays as it is. */
async function end(ctx: Context, commitments: readonly Commitment[]): Promise<boolean> {
  const endOne = async ({ rideId, offerId }: Commitment): Promise<boolean> => {
    const command = offerId
      ? ({ action: 'withdrawOffer', offerId } as const)
      : ({ action: 'cancel', by: 'driver' } as const);
    try {
      await applyAction(ctx, rideId, command, 'anyone', { by: 'driver' });
    } catch (error) {
      if (error instanceof RideHeld) return false;
      // A 409 means that the ride has already ended or the offer is already withdrawn.
      if (!(error instanceof AppError) || error.status !== 409) throw error;
    }
    return true;
  };
  return (await Promise.all(commitments.map(endOne))).every(Boolean);
}
