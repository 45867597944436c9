import type { TimerJob } from '../shared/base/queues.ts';
import { applyTimedAction } from '../shared/rides/apply-action.ts';
import { DriverBusy } from '../shared/rides/change-ride.ts';
import type { Change, Command } from '../shared/rides/decide.ts';
import { matchingOffer } from '../shared/rides/offers.ts';
import { bringSuccessor } from '../shared/rides/rebid.ts';
import type { RideState } from '../shared/rides/ride-types.ts';
import { storeOwedWithdrawals } from '../shared/webhooks/copies-of-event.ts';
import { type Handler, timerOutcome } from './handler.ts';

/**
 * Handles the jobs of the queue `bidding`, which end the bidding time, accept an offer within the autoAccept limits,
 * insert the successor of a ride whose driver cancelled, or store the events of withdrawn offers.
 */
export const runBiddingTimer: Handler<TimerJob> = async (ctx, job, run) => {
  if (job.timer === 'rebid') return timerOutcome(await bringSuccessor(ctx, job.rideId));
  if (job.timer === 'withdrawn') return timerOutcome(await storeOwedWithdrawals(ctx, job.rideId));
  return job.timer === 'auto_accept' ? autoAccept(ctx, job, run) : expireBidding(ctx, job, run);
};

/** Cancels a ride by timeout if its bidding time ended without an accepted offer (contract, section 3). */
const expireBidding: Handler<TimerJob> = async (ctx, { rideId }) =>
  timerOutcome(await applyTimedAction(ctx, rideId, 'expire', () => ({ action: 'cancel', by: 'timeout' })));

/** Delay before the next try while the drivers of all matching offers are busy. */
const retryMs = 2_000;

/**
 * Accepts the offer that the ride's autoAccept selects (contract, section 10.5). While the drivers of all matching offers
 * are busy, sets the timer again. Gives up when no matching offer is left or the bidding time ends.
 */
export const autoAccept: Handler<TimerJob> = async (ctx, { rideId }) => {
  const busyDrivers = new Set<string>();
  const effectOf = (ride: RideState, now: Date): Command | Change | null => {
    const offer = matchingOffer(ride, busyDrivers);
    if (offer) return { action: 'accept', offerId: offer.offerId };
    const dueAt = new Date(now.getTime() + retryMs);
    if (!matchingOffer(ride) || ride.status !== 'bidding' || dueAt >= ride.biddingEndsAt) return null;
    const others = ride.timers.filter(({ name }) => name !== 'auto_accept');
    return { set: { timers: [...others, { name: 'auto_accept', dueAt }] } };
  };
  for (;;) {
    try {
      const fired = await applyTimedAction(ctx, rideId, 'auto_accept', effectOf);
      if ('dueAgainAt' in fired) return { againInMs: retryMs, why: 'the driver is busy' };
      return timerOutcome(fired);
    } catch (error) {
      // The driver was just assigned to another ride: try the next matching offer.
      if (!(error instanceof DriverBusy)) throw error;
      busyDrivers.add(error.driverId);
    }
  }
};
