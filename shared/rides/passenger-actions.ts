import type { Context } from '../base/context.ts';
import { rideRatings } from '../base/metrics.ts';
import { ratableAfterMs } from '../base/terms.ts';
import { changeRide } from './change-ride.ts';
import type { Ride, RideRating } from './ride-types.ts';
import { hasEnded } from './transitions.ts';

/**
 * Stores the rating of a completed ride (contract, section 10.21): only the first one, only from a minute after the end,
 * and not once the ride is erased. That of a live ride is owed to its driver. Sends no event. Throws like `changeRide`.
 */
export async function rateRide(
  ctx: Context,
  { _id: rideId, keyId }: Pick<Ride, '_id' | 'keyId'>,
  given: Omit<RideRating, 'at'>,
): Promise<void> {
  const changed = await changeRide(ctx, { rideId, owner: { keyId } }, (ride, at, now) => {
    const { mode, status, statusAt, rating, trackToken } = ride;
    const isOpen = status === 'completed' && !rating && now.getTime() - statusAt.getTime() >= ratableAfterMs;
    // An erased ride has no token.
    const owed = mode === 'live' && { ratingOwed: true as const };
    const change = isOpen && trackToken ? { set: { rating: { ...given, at }, ...owed } } : null;
    return { change, result: change !== null };
  });
  if (changed?.result) rideRatings.inc({ stars: String(given.stars), mode: changed.ride.mode });
}

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
