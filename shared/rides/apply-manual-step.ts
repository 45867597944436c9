import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { derivedOfferId } from '../base/ids.ts';
import type { Command } from './decide.ts';
import { applyWithPin } from './pin.ts';
import type { Origin, RideState, RideStatus } from './ride-types.ts';
import { nextSimulatedOffer } from './simulation.ts';
import { type RideAction, transitionOf } from './transitions.ts';

/** A manual step, which a partner requests in a test ride. It replaces a step of the simulated driver, or a timeout. */
export type ManualStep =
  /** Without a price or an ETA, the value of the simulated driver is used. */
  | { step: 'offer'; price?: number; etaMinutes?: number }
  | { step: 'withdraw'; offerId: string }
  | { step: 'start'; pin?: string }
  | { step: Exclude<(typeof plainManualSteps)[number], 'start'> };

/** The steps without an argument. `open` opens a ride for later; `expire` is the timeout of the status. */
export const plainManualSteps = ['open', 'arrive', 'start', 'complete', 'cancel', 'expire'] as const;

/**
 * Applies a manual step to a test ride of a key. The lifecycle table applies as to any other change, and the script of
 * the ride's scenario continues after the step. Resolves with the ride after the step. Throws `ride_not_found`,
 * `live_ride`, for a start `wrong_pin` and `pin_locked`, and the errors of `decide` for a step that the
 * ride's status does not allow.
 */
export async function applyManualStep(
  ctx: Context,
  rideId: string,
  step: ManualStep,
  owner: { keyId: string },
  origin: Origin,
): Promise<RideState> {
  const command = (ride: RideState): Command => {
    if (ride.mode !== 'test') throw new AppError('live_ride');
    if (lacksDriver(step.step, ride.status)) throw new AppError('illegal_step');
    return commandOf(ride, step, origin);
  };
  const pin = step.step === 'start' ? step.pin : undefined;
  const ride = await applyWithPin(ctx, { rideId, owner }, command, pin, origin);
  if (!ride) throw new AppError('ride_not_found');
  return ride;
}

function commandOf(ride: RideState, step: ManualStep, { form }: Origin): Command {
  switch (step.step) {
    case 'offer': {
      const { driver, price, etaMinutes } = nextSimulatedOffer(ride);
      return {
        action: 'offer',
        driver,
        price: step.price ?? price,
        etaMinutes: step.etaMinutes ?? etaMinutes,
        // The offer's id is derived from the form, so a form that is sent again gets the same offer.
        ...(form && { newId: derivedOfferId(form) }),
      };
    }
    case 'withdraw':
      return { action: 'withdrawOffer', offerId: step.offerId };
    case 'cancel':
      return { action: 'cancel', by: 'driver' };
    case 'expire':
      return { action: 'cancel', by: 'timeout' };
    default:
      return { action: step.step };
  }
}

const actions: Record<ManualStep['step'], RideAction> = {
  open: 'open',
  offer: 'offer',
  withdraw: 'withdrawOffer',
  arrive: 'arrive',
  start: 'start',
  complete: 'complete',
  cancel: 'cancel',
  expire: 'cancel',
};

/** True if the step is allowed in this status. Pure. */
export const canStep = (step: ManualStep['step'], status: RideStatus): boolean =>
  transitionOf(actions[step]).from.includes(status) && !lacksDriver(step, status);

/** A driver can cancel only an assigned ride. While the ride is bidding, drivers withdraw their offers instead. */
const lacksDriver = (step: ManualStep['step'], status: RideStatus): boolean =>
  step === 'cancel' && status === 'bidding';
