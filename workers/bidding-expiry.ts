import type { TimerJob } from '../shared/queues.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import type { Handler } from './handler.ts';
import { timerOutcome } from './timer-outcome.ts';

/** Cancels a ride for which no offer was accepted in time (rulings, "Timeout"). */
export const expireBidding: Handler<TimerJob> = async (ctx, { rideId }) =>
  timerOutcome(await fireTimer(ctx, rideId, 'expire'));
