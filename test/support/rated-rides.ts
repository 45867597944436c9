import type { Context } from '../../shared/base/context.ts';
import { rides } from '../../shared/rides/ride.ts';
import { type RideWish, rideIn } from './rides.ts';
import { storedRide } from './stored-rides.ts';

/** A completed ride that ended this long ago. */
export async function completedRide(ctx: Context, secondsAgo: number, wish: RideWish = {}): Promise<string> {
  const { rideId } = await rideIn(ctx, 'completed', wish);
  await endedAgo(rideId, secondsAgo);
  return rideId;
}

/** Moves the end of a ride into the past. */
export async function endedAgo(rideId: string, seconds: number): Promise<void> {
  const { events } = await storedRide(rideId);
  const at = new Date(Date.now() - seconds * 1_000);
  await rides.updateOne({ _id: rideId }, { $set: { statusAt: at, [`events.${events.length - 1}.at`]: at } });
}
