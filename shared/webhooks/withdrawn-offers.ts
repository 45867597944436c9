import type { Context } from '../base/context.ts';
import { withdrawnEventId } from '../base/ids.ts';
import { trackUrl, withdrawnBody } from '../rides/events.ts';
import { fireTimer, type TimerResult } from '../rides/fire-timer.ts';
import { readRide } from '../rides/read-ride.ts';
import { storeCopies } from './copies-of-event.ts';

/**
 * Stores the events `offer.withdrawn` that a ride owes for the endpoints that want them, and then fires its timer
 * `withdrawn`, whose write removes what is stored. The change of the ride has set the timer and named the offers.
 * Idempotent: a second run stores nothing again. Throws if MongoDB is unavailable.
 */
export async function storeOwedWithdrawals(ctx: Context, rideId: string): Promise<TimerResult> {
  const read = await readRide({ rideId, owner: 'anyone' });
  if (!read?.ride.timers.some(({ name }) => name === 'withdrawn')) return { result: 'stale' };
  const { ride } = read;
  const owed = new Set(ride.withdrawalsOwed);
  const withdrawn = ride.offers.flatMap((offer) => {
    const { offerId, withdrawnAt: at } = offer;
    if (!owed.has(offerId) || !at) return [];
    const eventId = withdrawnEventId(rideId, offerId);
    const url = trackUrl(ctx.config.trackBaseUrl, ride);
    const body = withdrawnBody({ ride, offer, eventId, at: at.getTime(), trackUrl: url });
    return [{ eventId, event: 'offer.withdrawn' as const, offerId, at, body }];
  });
  await storeCopies(ctx, ride, withdrawn);
  return fireTimer(ctx, rideId, 'withdrawn', ({ withdrawalsOwed = [] }) => ({
    set: { withdrawalsOwed: withdrawalsOwed.filter((offerId) => !owed.has(offerId)) },
  }));
}
