import type { Context } from '../../../shared/base/context.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { findAll } from '../../../shared/base/mongo/collection.ts';
import { markSilentUnavailable } from '../../../shared/drivers/change-availability.ts';
import { drivers } from '../../../shared/drivers/driver.ts';
import { applyTimedAction } from '../../../shared/rides/apply-action.ts';
import { settleDriver } from '../../../shared/rides/driver/settle-driver.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideState } from '../../../shared/rides/ride-types.ts';
import { logFailedPart } from '../turns.ts';
import { type Walk, type WalkCursor, walk } from '../walk.ts';

/** A ride with a due timer, as a sweep reads it. */
export type DueRide = Pick<RideState, '_id' | 'timers'>;

/**
 * A walk along the rides with a timer that is due by `until`, or with any timer if `until` is null. The longest overdue
 * ride comes first.
 */
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

/** Cancels a trip without progress. Resolves with false if the trip has made progress in the meantime. */
export async function endStalled(ctx: Context, { _id }: DueRide): Promise<boolean> {
  const fired = await applyTimedAction(ctx, _id, 'stall', () => ({ action: 'cancel', by: 'timeout' }));
  return fired.result === 'done';
}

/** One sweep settles at most this many drivers and leaves the others to the next one. */
const maxDrivers = 100;

/**
 * Ends the rides and offers of suspended and revoked drivers, and excludes silent drivers from the search for drivers.
 * Resolves with the numbers of settled and failed drivers.
 */
export async function settleDrivers(ctx: Context, now: Date): Promise<{ settled: number; failed: number }> {
  await markSilentUnavailable(now);
  const page = { projection: { _id: 1 }, sort: { leavesSince: 1 }, limit: maxDrivers } as const;
  const leaving = await findAll(drivers, { leavesSince: { $exists: true } }, page);
  let failed = 0;
  const settle = async ({ _id: driverId }: { _id: string }) => {
    try {
      await settleDriver(ctx, driverId);
    } catch (error) {
      logFailedPart(ctx.log, 'a driver could not be settled', { driverId }, error);
      failed += 1;
    }
  };
  // All at once, so that they share batches: one after the other, each would wait for its own.
  await Promise.all(leaving.map(settle));
  return { settled: leaving.length - failed, failed };
}

/** A walk without Redis stops after this many rides for which there is nothing to do. The next call continues there. */
const maxIdle = 500;

/**
 * Does the part of a sweep that needs only MongoDB and no jobs: ends stalled trips, and ends the rides and offers of
 * suspended and revoked drivers. Finds the trips along the due timers, from a cursor; resolves with the cursor for the
 * next call. The lease is in Redis, so during an outage of Redis every worker process does this work. It is harmless if
 * two processes end the same trip.
 */
export async function sweepWithoutRedis(
  ctx: Context,
  from: WalkCursor,
  mayContinue: () => Promise<boolean>,
): Promise<WalkCursor> {
  const now = await mongoNow();
  let cursor = from;
  let stalls = 0;
  const endStalledOnes = async (due: readonly DueRide[]) => {
    let ended = 0;
    const endOne = async (ride: DueRide) => {
      try {
        if (await endStalled(ctx, ride)) ended += 1;
      } catch (error) {
        logFailedPart(ctx.log, 'a ride could not be swept', { rideId: ride._id }, error);
      }
    };
    await Promise.all(due.filter((each) => hasStalled(each, now)).map(endOne));
    stalls += ended;
    return ended;
  };
  const onProgress = (reached: WalkCursor) => {
    cursor = reached;
  };
  const [{ settled, failed }] = await Promise.all([
    settleDrivers(ctx, now),
    walk(alongDueTimers(now, endStalledOnes), from, { maxIdle, mayContinue, onProgress }),
  ]);
  if (stalls + settled + failed > 0) ctx.log.info({ stalls, drivers: settled, failed }, 'sweep without Redis');
  return cursor === 'end' ? 'front' : cursor;
}
