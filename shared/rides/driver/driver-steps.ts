import type { Context } from '../../base/context.ts';
import { AppError } from '../../base/errors.ts';
import { changeRide, type Decision } from '../change-ride.ts';
import { decide } from '../decide.ts';
import type { Origin, RideState, RideStatus } from '../ride-types.ts';
import { transitionOf } from '../transitions.ts';

/** The steps of a chosen driver, in the order of a trip; and `cancel`, which ends it. */
export type DriverStep = 'arrive' | 'start' | 'complete' | 'cancel';

const inOrder = ['accept', 'arrive', 'start', 'complete'] as const;

/**
 * Takes a step of a driver in the driver's own ride. Resolves with the status that the step leads to; also when it was
 * taken before, whatever has happened since, so that a driver can send it again after a lost answer. Throws
 * `not_own_ride` for any other ride and `illegal_step` or `ride_ended` for a step that is not the next one.
 */
export async function takeDriverStep(
  ctx: Context,
  rideId: string,
  step: DriverStep,
  owner: { driverId: string },
  origin?: Origin,
): Promise<RideStatus> {
  const decision: Decision = (current, at) => {
    if (current.driver?.driverId !== owner.driverId) throw new AppError('not_own_ride');
    if (wasTaken(current, step)) return null;
    return decide(current, step === 'cancel' ? { action: step, by: 'driver' } : { action: step }, at, ctx.config);
  };
  const ride = await changeRide(ctx, { rideId, owner }, decision, origin);
  if (!ride) throw new AppError('not_own_ride');
  return transitionOf(step).to;
}

/** Whether the driver has taken the step in this ride. */
function wasTaken(ride: Pick<RideState, 'seq' | 'offers' | 'status' | 'cancelledBy'>, step: DriverStep): boolean {
  if (step === 'cancel') return ride.cancelledBy === 'driver';
  // Each offer and each change of status has had one event.
  const changes = ride.seq - ride.offers.length;
  const steps = ride.status === 'cancelled' ? changes - 1 : changes;
  return inOrder.indexOf(step) < steps;
}
