import type { Context } from '../base/context.ts';
import { batchedInsert } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import { fireTimer, type TimerResult } from './fire-timer.ts';
import { newDocument } from './new-document.ts';
import { readRide } from './read-ride.ts';
import { rides } from './ride.ts';
import { enqueueNextTimer } from './ride-jobs.ts';
import type { RideEvent, RideState } from './ride-types.ts';
import { requestOf, scenarioOfSuccessor } from './successor.ts';

/**
 * The successor of a ride whose driver cancelled (`onDriverCancel: rebid`). The write that cancels chooses its id and
 * sets the timer `rebid`. This function inserts it under that id, and then fires the timer, whose write shows it as
 * `replacedBy`. Idempotent: a duplicate id means that another run inserted it. Throws if MongoDB is unavailable.
 */
export async function bringSuccessor(ctx: Context, rideId: string): Promise<TimerResult> {
  const read = await readRide({ rideId, owner: 'anyone' });
  const replacedBy = read?.ride.nextRideId;
  if (!read || !replacedBy || !read.ride.timers.some(({ name }) => name === 'rebid')) return { result: 'stale' };
  await insertSuccessor(ctx, read.ride, replacedBy, read.now);
  return fireTimer(ctx, rideId, 'rebid', () => ({ set: { replacedBy } }));
}

/** Makes sure that the successors that these events name exist. Call it before anybody gets the events. */
export async function bringNamedSuccessors(
  ctx: Context,
  events: readonly { rideId: string; event: Pick<RideEvent, 'replacedBy'> }[],
): Promise<void> {
  await Promise.all(events.map(({ rideId, event }) => event.replacedBy && bringSuccessor(ctx, rideId)));
}

const insertRide = batchedInsert(rides);

async function insertSuccessor(ctx: Context, ride: RideState, _id: string, now: Date): Promise<void> {
  const { _id: replaces, keyId, accountId, mode, origin, driver, rebids = 0, excludedDrivers = [] } = ride;
  const scenario = scenarioOfSuccessor(ride.scenario);
  const successor = newDocument(
    {
      ...{ _id, keyId, accountId, mode, createdAt: now, request: requestOf(ride) },
      // Without the form, which created only the first ride.
      ...(origin && { origin: { by: origin.by, ...(origin.requestId && { requestId: origin.requestId }) } }),
      ...{ replaces, rebids: rebids + 1, excludedDrivers: [...excludedDrivers, ...(driver ? [driver.driverId] : [])] },
      ...(scenario && { scenario }),
    },
    ctx.config,
  );
  try {
    // The write concern also covers the cancellation, which precedes it in the oplog.
    await insertRide(successor);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return;
  }
  ctx.log.info({ requestId: origin?.requestId, rideId: _id, keyId, mode, scenario }, 'ride created');
  await enqueueNextTimer(ctx, successor);
}
