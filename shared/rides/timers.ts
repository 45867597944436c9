import type { Context } from '../context.ts';
import { addJob } from '../queues.ts';
import type { RideState, Timer } from './ride.ts';

/** When the first of a ride's timers is due; undefined where there is none. */
export const earliest = (timers: readonly Timer[]): Date | undefined =>
  timers.map((timer) => timer.dueAt).sort((a, b) => a.getTime() - b.getTime())[0];

/**
 * Adds a delayed job for each timer; `now` is the time on MongoDB's clock. Never fails. A stall has no job: it is hours
 * away, and the sweeper finds it. Answers whether Redis took all of them. `evenIfActive` is for those that are due.
 */
export async function enqueueTimers(
  ctx: Context,
  ride: Pick<RideState, '_id'>,
  timers: readonly Timer[],
  now: Date,
  { evenIfActive = false } = {},
): Promise<boolean> {
  const taken = await Promise.all(
    timers
      .filter(({ name }) => name !== 'stall')
      .map(({ name, dueAt }) =>
        addJob(ctx, name === 'expire' ? 'bidding' : 'simulator', {
          id: `${ride._id}_${name}`,
          name: `${name} ${ride._id}`,
          data: { rideId: ride._id, timer: name },
          delayMs: dueAt.getTime() - now.getTime(),
          evenIfActive: evenIfActive && dueAt <= now,
        }),
      ),
  );
  return taken.every(Boolean);
}
