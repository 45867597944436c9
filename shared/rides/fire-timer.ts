import type { Context } from '../base/context.ts';
import { timerLag } from '../base/metrics.ts';
import type { TimerName } from '../base/terms.ts';
import { changeRide, type Decision } from './change-ride.ts';
import type { Change } from './decide.ts';
import type { Origin, RideState } from './ride-types.ts';

export type TimerResult =
  /**
   * The timer fired. `keyId` and `requestId` (of the request that created the ride) are for the log. `dueAgainAt` is
   * set if the change set the timer again.
   */
  | { result: 'done'; status: RideState['status']; keyId: string; requestId?: string; dueAgainAt?: Date }
  | { result: 'early'; remainingMs: number }
  /** The ride no longer has the timer. This is normal, because removing a timer leaves its job in the queue. */
  | { result: 'stale' };

/**
 * Returns the change that a timer makes to its ride, or null if nothing is left to do. `now` is MongoDB's clock, `at` the
 * time of the change. Called again with a newer state if another process changed the ride first.
 */
type ChangeOf = (ride: RideState, now: Date, at: Date) => Change | null;

/**
 * Makes the change of a timer if the ride still has the timer and the timer is due by MongoDB's clock. The write also
 * removes the timer, so a duplicate or late call is harmless. With `dueAt`, fires only the timer with this due time, and
 * leaves a newer one of the same name; `dueAt: null` means that the ride had no such timer. Throws what `changeRide`
 * throws while MongoDB is unavailable. For a timer that applies an action, see `applyTimedAction`.
 */
export async function fireTimer(
  ctx: Context,
  rideId: string,
  name: TimerName,
  changeOf: ChangeOf,
  { dueAt }: { dueAt?: Date | null } = {},
): Promise<TimerResult> {
  const decision: Decision<{ fired: TimerResult; lateMs?: number }> = (ride, at, now) => {
    const timer = ride.timers.find(
      (each) => each.name === name && (dueAt === undefined || each.dueAt.getTime() === dueAt?.getTime()),
    );
    if (!timer) return { change: null, result: { fired: { result: 'stale' } } };
    const lateMs = now.getTime() - timer.dueAt.getTime();
    if (lateMs < 0) return { change: 'not yet', result: { fired: { result: 'early', remainingMs: -lateMs } } };
    // The timer is also removed if it changes nothing else. Otherwise the sweeper would keep adding its job.
    const { set, ...others } = changeOf(ride, now, at) ?? { set: {} };
    const change = { ...others, set: { timers: ride.timers.filter((each) => each.name !== name), ...set } };
    return { change, result: { fired: doneBy(change, ride, name), lateMs } };
  };
  const changed = await changeRide(ctx, { rideId, owner: 'anyone' }, decision, originOf(name));
  if (!changed) return { result: 'stale' };
  const { fired, lateMs } = changed.result;
  if (lateMs !== undefined) timerLag.observe({ timer: name }, lateMs / 1_000);
  return fired;
}

function originOf(name: TimerName): Origin {
  if (name === 'auto_accept') return { by: name };
  return { by: name === 'expire' || name === 'stall' ? 'timeout' : 'simulator' };
}

function doneBy({ set }: Change, { status, keyId, origin }: RideState, name: TimerName): TimerResult {
  const dueAgainAt = set.timers?.find((timer) => timer.name === name)?.dueAt;
  return {
    result: 'done',
    status: set.status ?? status,
    keyId,
    ...(origin?.requestId && { requestId: origin.requestId }),
    ...(dueAgainAt && { dueAgainAt }),
  };
}
