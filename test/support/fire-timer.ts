import type { Context } from '../../shared/base/context.ts';
import type { SimulatorStep, TimerName } from '../../shared/base/terms.ts';
import { applyTimedAction } from '../../shared/rides/apply-action.ts';
import type { TimerResult } from '../../shared/rides/fire-timer.ts';
import { simulatedCommand } from '../../workers/simulated-driver.ts';

/** Fires a ride's timer with the same command as a worker or the sweeper. */
export function fireTimer(ctx: Context, rideId: string, name: TimerName): Promise<TimerResult> {
  return applyTimedAction(ctx, rideId, name, (ride) =>
    name === 'expire' || name === 'stall'
      ? { action: 'cancel', by: 'timeout' }
      : simulatedCommand(ride, name as SimulatorStep),
  );
}
