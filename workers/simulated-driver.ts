import type { TimerJob } from '../shared/base/queues.ts';
import type { SimulatorStep } from '../shared/base/terms.ts';
import { applyTimedAction } from '../shared/rides/apply-action.ts';
import type { Command } from '../shared/rides/decide.ts';
import { liveOffersCheapestFirst } from '../shared/rides/offers.ts';
import type { RideState } from '../shared/rides/ride-types.ts';
import { simulatedOffer } from '../shared/rides/simulation.ts';
import { type Handler, timerOutcome } from './handler.ts';

/**
 * Applies the next step of the simulated driver to a test ride (contract, section 3, rule 5). The scripts in
 * shared/rides/simulation.ts define the order and the times of the steps.
 */
export const simulateStep: Handler<TimerJob> = async (ctx, { rideId, timer }) =>
  // The simulator queue holds only the simulated driver's steps.
  timerOutcome(await applyTimedAction(ctx, rideId, timer, (ride) => simulatedCommand(ride, timer as SimulatorStep)));

/** The command of a step, or null if no live offer is left to accept or withdraw. */
export function simulatedCommand(ride: RideState, step: SimulatorStep): Command | null {
  switch (step) {
    case 'offer':
    case 'offer_2':
    case 'offer_3':
      return { action: 'offer', ...simulatedOffer(ride, step) };
    case 'accept':
    case 'withdraw': {
      const [cheapest] = liveOffersCheapestFirst(ride.offers);
      const action = step === 'accept' ? 'accept' : 'withdrawOffer';
      return cheapest ? { action, offerId: cheapest.offerId } : null;
    }
    case 'driver_cancel':
      return { action: 'cancel', by: 'driver' };
    default:
      return { action: step };
  }
}
