import type { TimerJob } from '../shared/queues.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import type { Handler } from './handler.ts';
import { timerOutcome } from './timer-outcome.ts';

/** Test mode: the simulated driver takes the next step of its script (contract, section 3, rule 5). */
export const simulateStep: Handler<TimerJob> = async (ctx, { rideId, timer }) =>
  timerOutcome(await fireTimer(ctx, rideId, timer));
