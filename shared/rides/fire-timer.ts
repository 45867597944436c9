import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { timerLag } from '../base/metrics.ts';
import type { TimerName } from '../base/terms.ts';
import { changeRide, type Decision } from './change-ride.ts';
import { type Change, type ChangeTimes, type Command, decide } from './decide.ts';
import type { Origin, RideState } from './ride-types.ts';

export type TimerResult =
  /**
   * With the ride's key and the request that created the ride, for the log. `dueAgainAt` where the change has set the
   * timer again.
   */
  | { result: 'done'; status: RideState['status']; keyId: string; requestId?: string; dueAgainAt?: Date }
  | { result: 'early'; remainingMs: number }
  /** The ride no longer has the timer. Normal: a job is not removed when its timer is. */
  | { result: 'stale' };

/**
 * The effect of a timer on its ride: a command, a change that leaves the ride's status as it is, or null when there is
 * nothing left to do. `now` is MongoDB's clock. Called again with a newer state when another process was first.
 */
type EffectOf = (ride: RideState, now: Date) => Command | Change | null;

/**
 * Carries out the effect of a timer if the ride still has the timer and it is due by MongoDB's clock. Can run twice,
 * late or never: the write that carries it out also removes the timer. A command that the ride's status no longer
 * allows only removes it. With `dueAt` only the timer that is due then fires; another one of the same name, which was
 * set since, stays. Null is for a ride that had no such timer. Throws what `changeRide` throws when MongoDB is away.
 */
export async function fireTimer(
  ctx: Context,
  rideId: string,
  name: TimerName,
  effectOf: EffectOf,
  { dueAt }: { dueAt?: Date | null } = {},
): Promise<TimerResult> {
  const decision: Decision<{ fired: TimerResult; lateMs?: number }> = (ride, at, now) => {
    const timer = ride.timers.find(
      (each) => each.name === name && (dueAt === undefined || each.dueAt.getTime() === dueAt?.getTime()),
    );
    if (!timer) return { change: null, result: { fired: { result: 'stale' } } };
    const lateMs = now.getTime() - timer.dueAt.getTime();
    if (lateMs < 0) return { change: 'not yet', result: { fired: { result: 'early', remainingMs: -lateMs } } };
    const change = changeOf(ctx, ride, name, effectOf(ride, now), { at, now });
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

/** Removes the timer without acting when the command is not allowed: the sweeper would add its job again and again. */
function changeOf(
  ctx: Context,
  ride: RideState,
  name: TimerName,
  effect: Command | Change | null,
  times: ChangeTimes,
): Change {
  const timers = ride.timers.filter((timer) => timer.name !== name);
  const withoutTimer: Change = { set: { timers } };
  if (!effect) return withoutTimer;
  if ('set' in effect) return { ...effect, set: { timers, ...effect.set } };
  try {
    return decide(ride, effect, times, ctx.config, name) ?? withoutTimer;
  } catch (error) {
    if (error instanceof AppError) return withoutTimer;
    throw error;
  }
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
