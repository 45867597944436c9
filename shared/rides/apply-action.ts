import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import type { TimerName } from '../base/terms.ts';
import { changeRide, type Decision } from './change-ride.ts';
import { type Change, type Command, decide } from './decide.ts';
import { fireTimer, type TimerResult } from './fire-timer.ts';
import type { RideOwner } from './read-ride.ts';
import type { Origin, RideState } from './ride-types.ts';

/**
 * Applies one action of the lifecycle table (contract, section 3) exactly once, with at most one event. `command` may
 * be a function of the ride; null leaves the ride unchanged. Resolves with the ride after the action. Throws AppError
 * (404 or 409) and changes nothing if the action is not allowed; a ride of another owner is the same 404 as an unknown
 * one. `origin` appears in the ride's timeline.
 */
export async function applyAction(
  ctx: Context,
  rideId: string,
  command: Command | ((ride: RideState) => Command | null),
  owner: RideOwner,
  origin?: Origin,
): Promise<RideState> {
  const decision: Decision<null> = (ride, at, now) => {
    const wanted = typeof command === 'function' ? command(ride) : command;
    return { change: wanted && decide(ride, wanted, { at, now }, ctx.config), result: null };
  };
  const changed = await changeRide(ctx, { rideId, owner }, decision, origin);
  if (!changed) throw new AppError('ride_not_found');
  return changed.ride;
}

/**
 * Fires a timer with a command, or with a change that leaves the status; null if nothing is left to do. If the ride's
 * status no longer allows the command, only removes the timer. Resolves and throws like `fireTimer`.
 */
export function applyTimedAction(
  ctx: Context,
  rideId: string,
  name: TimerName,
  effectOf: (ride: RideState, now: Date) => Command | Change | null,
): Promise<TimerResult> {
  return fireTimer(ctx, rideId, name, (ride, now, at) => {
    const effect = effectOf(ride, now);
    if (!effect || 'set' in effect) return effect;
    try {
      return decide(ride, effect, { at, now }, ctx.config, name);
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  });
}
