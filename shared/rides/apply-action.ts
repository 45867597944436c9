import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { changeRide, type Decision } from './change-ride.ts';
import { type Command, decide } from './decide.ts';
import type { RideOwner } from './read-ride.ts';
import type { Origin, RideState } from './ride-types.ts';

/**
 * Applies one action of the lifecycle table (contract, section 3) exactly once, with exactly one event. Resolves with
 * the ride after it. Throws AppError (404 or 409) and changes nothing when the action is not allowed; the ride of
 * another owner is the same 404 as an unknown one. `origin` is shown in the ride's timeline.
 */
export async function applyAction(
  ctx: Context,
  rideId: string,
  command: Command,
  owner: RideOwner,
  origin?: Origin,
): Promise<RideState> {
  const decision: Decision = (current, at) => decide(current, command, at, ctx.config);
  const ride = await changeRide(ctx, { rideId, owner }, decision, origin);
  if (!ride) throw new AppError('ride_not_found');
  return ride;
}
