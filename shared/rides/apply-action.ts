import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { changeRide } from './change-ride.ts';
import { type Command, decide } from './decide.ts';
import type { RideState } from './ride-types.ts';

/**
 * Applies one action of the lifecycle table (contract, section 3): exactly once, with exactly one event, or throws
 * AppError, a 404 or 409, and changes nothing. `keyId` limits it to that key's own rides. Resolves with the ride as it
 * then stands.
 */
export async function applyAction(ctx: Context, rideId: string, command: Command, keyId?: string): Promise<RideState> {
  const ride = await changeRide(ctx, { rideId, keyId }, (current, at) => decide(current, command, at, ctx.config));
  if (!ride) throw new AppError('ride_not_found');
  return ride;
}
