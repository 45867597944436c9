import { AppError } from '../shared/errors.ts';
import type { TimerJob } from '../shared/queues.ts';
import { firstFitting } from '../shared/rides/auto-accept.ts';
import type { Command } from '../shared/rides/decide.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import type { RideState } from '../shared/rides/ride-types.ts';
import { type Handler, timerOutcome } from './handler.ts';

/**
 * Accepts the first offer that the partner takes without looking at it (contract, section 10.5). Nothing happens where the
 * offer is withdrawn by now or the ride no longer bids.
 */
export const autoAccept: Handler<TimerJob> = async (ctx, { rideId }) => {
  const ofBusyDrivers = new Set<string>();
  let offerId: string | undefined;
  const command = (ride: RideState): Command | null => {
    offerId = firstFitting(ride, ofBusyDrivers)?.offerId;
    return offerId === undefined ? null : { action: 'accept', offerId };
  };
  for (;;) {
    try {
      return timerOutcome(await fireTimer(ctx, rideId, 'auto_accept', command));
    } catch (error) {
      // The driver has taken another ride a moment ago: the next offer that fits.
      if (!(error instanceof AppError && error.code === 'driver_busy' && offerId !== undefined)) throw error;
      ofBusyDrivers.add(offerId);
    }
  }
};
