import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { drivers } from '../../../shared/drivers/driver.ts';
import { dropSilent } from '../../../shared/drivers/positions.ts';
import { settleDriver } from '../../../shared/rides/driver/settle-driver.ts';

/** The next sweep goes on with more. */
const mostAtOnce = 100;

/**
 * Ends the rides and offers of drivers who were suspended or revoked, and takes drivers who have fallen silent out of
 * the search. Resolves with how many were settled and how many failed.
 */
export async function settleDrivers(ctx: Context, now: Date): Promise<{ settled: number; failed: number }> {
  await dropSilent(now);
  const leaving = await drivers
    .find({ leavesSince: { $exists: true } }, { projection: { _id: 1 }, sort: { leavesSince: 1 }, limit: mostAtOnce })
    .toArray();
  let failed = 0;
  for (const { _id } of leaving) {
    try {
      await settleDriver(ctx, _id);
    } catch (error) {
      if (isOutageOfMongo(error)) throw error;
      failed += 1;
      ctx.log.warn({ driverId: _id, error: describeError(error) }, 'a driver could not be settled');
    }
  }
  return { settled: leaving.length - failed, failed };
}
