import { AppError } from '../shared/base/errors.ts';
import type { TimerJob } from '../shared/base/queues.ts';
import type { Change, Command } from '../shared/rides/decide.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { firstFitting } from '../shared/rides/offers.ts';
import type { RideState } from '../shared/rides/ride-types.ts';
import { type Handler, timerOutcome } from './handler.ts';

/** How soon a ride is tried again whose fitting offers are all of busy drivers. */
const retryMs = 2_000;

/**
 * Accepts the first offer that matches the ride's autoAccept limits (contract, section 10.5). If the drivers of all such
 * offers are busy, the timer is set again until one of them is free, their offers are withdrawn or the bidding time is over.
 */
export const autoAccept: Handler<TimerJob> = async (ctx, { rideId }) => {
  const ofBusyDrivers = new Set<string>();
  let offerId: string | undefined;
  let isRetried = false;
  const effectOf = (ride: RideState, now: Date): Command | Change | null => {
    offerId = firstFitting(ride, ofBusyDrivers)?.offerId;
    isRetried = false;
    if (offerId !== undefined) return { action: 'accept', offerId };
    const dueAt = new Date(now.getTime() + retryMs);
    isRetried = firstFitting(ride, new Set()) !== undefined && ride.status === 'bidding' && dueAt < ride.biddingEndsAt;
    if (!isRetried) return null;
    const others = ride.timers.filter(({ name }) => name !== 'auto_accept');
    return { set: { timers: [...others, { name: 'auto_accept', dueAt }] } };
  };
  for (;;) {
    try {
      const fired = await fireTimer(ctx, rideId, 'auto_accept', effectOf);
      if (isRetried && fired.result === 'done') return { againInMs: retryMs, why: 'the driver is busy' };
      return timerOutcome(fired);
    } catch (error) {
      // The driver has taken another ride a moment ago: the next offer that fits.
      if (!(error instanceof AppError && error.code === 'driver_busy' && offerId !== undefined)) throw error;
      ofBusyDrivers.add(offerId);
    }
  }
};
