import type { Context } from '../../../shared/base/context.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { drivers } from '../../../shared/drivers/driver.ts';
import { dropSilent } from '../../../shared/drivers/positions.ts';
import { settleDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { fireTimer } from '../../../shared/rides/fire-timer.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideState } from '../../../shared/rides/ride-types.ts';
import { logFailedPart } from '../turns.ts';
import { type Position, type Walk, walk } from '../walk.ts';

/** The part of a sweep that needs only MongoDB: trips without progress, and the rides of suspended drivers, have no job. */
export type DueRide = Pick<RideState, '_id' | 'timers'>;

/** A walk along the rides with a due timer, the longest overdue first; all rides with a timer if `until` is null. */
export const alongDueTimers = (until: Date | null, visit: Walk<DueRide>['visit']): Walk<DueRide> => ({
  collection: rides,
  by: 'nextDueAt',
  filter: { nextDueAt: { $exists: true } },
  projection: { timers: 1 },
  until,
  visit,
});

export const hasStalled = ({ timers }: DueRide, now: Date): boolean =>
  timers.some(({ name, dueAt }) => name === 'stall' && dueAt <= now);

/** Cancels a trip without progress. Resolves with whether it still had stalled. */
export async function endStalled(ctx: Context, { _id }: DueRide): Promise<boolean> {
  const fired = await fireTimer(ctx, _id, 'stall', () => ({ action: 'cancel', by: 'timeout' }));
  return fired.result === 'done';
}

/** The next sweep settles more. */
const mostDrivers = 100;

/**
 * Ends the rides and offers of drivers who were suspended or revoked, and excludes silent drivers from the search. Resolves
 * with how many were settled and how many failed.
 */
export async function settleDrivers(ctx: Context, now: Date): Promise<{ settled: number; failed: number }> {
  await dropSilent(now);
  const leaving = await drivers
    .find({ leavesSince: { $exists: true } }, { projection: { _id: 1 }, sort: { leavesSince: 1 }, limit: mostDrivers })
    .toArray();
  let failed = 0;
  for (const { _id: driverId } of leaving) {
    try {
      await settleDriver(ctx, driverId);
    } catch (error) {
      logFailedPart(ctx.log, 'a driver could not be settled', { driverId }, error);
      failed += 1;
    }
  }
  return { settled: leaving.length - failed, failed };
}

/** A walk without Redis ends after this many rides with nothing to do, and continues there the next time. */
const maxIdle = 500;

/**
 * Ends stalled trips, and the rides and offers of suspended and revoked drivers, from a position along the due timers.
 * Resolves with the position for the next call. Every worker process does this while Redis is away, because the lease that
 * admits one process is there: two that end the same trip do no harm.
 */
export async function sweepWithoutRedis(
  ctx: Context,
  from: Position,
  mayGoOn: () => Promise<boolean>,
): Promise<Position> {
  const now = await mongoNow();
  let position = from;
  let stalls = 0;
  const endStalledOnes = async (due: readonly DueRide[]) => {
    let ended = 0;
    for (const ride of due.filter((each) => hasStalled(each, now))) {
      try {
        if (await endStalled(ctx, ride)) ended += 1;
      } catch (error) {
        logFailedPart(ctx.log, 'a ride could not be swept', { rideId: ride._id }, error);
      }
    }
    stalls += ended;
    return ended;
  };
  const onProgress = (reached: Position) => {
    position = reached;
  };
  const [{ settled, failed }] = await Promise.all([
    settleDrivers(ctx, now),
    walk(alongDueTimers(now, endStalledOnes), from, { maxIdle, mayGoOn, onProgress }),
  ]);
  if (stalls + settled + failed > 0) ctx.log.info({ stalls, drivers: settled, failed }, 'sweep without Redis');
  return position === 'end' ? 'front' : position;
}
