import type { TimerResult } from '../shared/rides/fire-timer.ts';
import type { Outcome } from './handler.ts';

/** A timer that is early by MongoDB's clock runs again after the remainder. */
export function timerOutcome(timer: TimerResult): Outcome {
  if (timer.result === 'early') return { againInMs: timer.remainingMs, why: 'early' };
  return timer;
}
