import type { TimerJob } from '../shared/base/queues.ts';
import type { Command } from '../shared/rides/decide.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { type Handler, timerOutcome } from './handler.ts';

/** Cancels a ride by timeout when its bidding time is over and no offer was accepted (contract, section 3). */
export const expireBidding: Handler<TimerJob> = async (ctx, { rideId }) =>
  timerOutcome(await fireTimer(ctx, rideId, 'expire', cancelByTimeout));

const cancelByTimeout = (): Command => ({ action: 'cancel', by: 'timeout' });
