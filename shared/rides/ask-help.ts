import type { Context } from '../base/context.ts';
import { changeRide } from './change-ride.ts';
import type { Ride } from './ride-types.ts';
import { hasEnded } from './transitions.ts';

/** A second request for help within this time is a repeat. */
const repeatMs = 60_000;
/** A ride keeps its latest requests. */
const mostKept = 20;

/**
 * Records that somebody asked for help on the live map of a ride (contract, section 10.20): at most once a minute, and
 * only until the ride ends. Sends no event. Throws like `changeRide`.
 */
export async function askHelp(ctx: Context, { _id: rideId, keyId }: Pick<Ride, '_id' | 'keyId'>): Promise<void> {
  await changeRide(ctx, { rideId, owner: { keyId } }, ({ status, helpAskedAt = [] }, _at, now) => {
    const last = helpAskedAt.at(-1);
    // The last one is in the future if MongoDB's clock was set back since.
    const isRepeat = last !== undefined && Math.abs(now.getTime() - last.getTime()) < repeatMs;
    const change =
      isRepeat || hasEnded(status) ? null : { set: { helpAskedAt: [...helpAskedAt, now].slice(-mostKept) } };
    return { change, result: null };
  });
}
