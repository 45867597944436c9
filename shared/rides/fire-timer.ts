import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { timerLag } from '../base/metrics.ts';
import type { TimerName } from '../base/terms.ts';
import { changeRide, type Decision } from './change-ride.ts';
import { type Change, type Command, decide } from './decide.ts';
import type { Origin, RideState } from './ride-types.ts';

export type TimerResult =
  /** With the ride's key and the request that created the ride, for the log. */
  | { result: 'done'; status: RideState['status']; keyId: string; requestId?: string }
  | { result: 'early'; remainingMs: number }
  /** The ride no longer has the timer. Normal: a job is not removed when its timer is. */
  | { result: 'stale' };

/**
 * What a timer does to the ride it belongs to: a command, a change that leaves the ride's status as it is, or null when
 * there is nothing left to do. `now` is MongoDB's clock.
 */
export type EffectOf = (ride: RideState, now: Date) => Command | Change | null;

/**
 * Carries out the effect of a timer if the ride still has the timer and it is due by MongoDB's clock. Can run twice,
 * late or never: the write that carries it out also removes the timer. A command that the ride's status no
 * longer allows only removes it. With `dueAt` only the timer that is due then fires; another one of the same name, which was
 * set since, stays. Null is for a ride that had no such timer. Throws what `changeRide` throws when MongoDB is away.
 */
export async function fireTimer(
  ctx: Context,
  rideId: string,
  name: TimerName,
  effectOf: EffectOf,
  { dueAt }: { dueAt?: Date | null } = {},
): Promise<TimerResult> {
  let outcome: TimerResult = { result: 'stale' };
  let lateMs = -1;
  const decision: Decision = (current, at, now) => {
    const timer = current.timers.find(
      (candidate) => candidate.name === name && (dueAt === undefined || candidate.dueAt.getTime() === dueAt?.getTime()),
    );
    const remainingMs = timer ? timer.dueAt.getTime() - now.getTime() : 0;
    outcome = timer && remainingMs > 0 ? { result: 'early', remainingMs } : { result: 'stale' };
    lateMs = timer ? -remainingMs : -1;
    if (!timer) return null;
    if (remainingMs > 0) return 'not yet';
    const change = changeOf(ctx, current, name, effectOf(current, now), at);
    const { keyId, origin } = current;
    const status = change.set.status ?? current.status;
    outcome = { result: 'done', status, keyId, ...(origin?.requestId && { requestId: origin.requestId }) };
    return change;
  };
  const ride = await changeRide(ctx, { rideId, owner: 'anyone' }, decision, originOf(name));
  if (lateMs >= 0) timerLag.observe({ timer: name }, lateMs / 1_000);
  return ride ? outcome : { result: 'stale' };
}

function originOf(name: TimerName): Origin {
  if (name === 'auto_accept') return { by: name };
  return { by: name === 'expire' || name === 'stall' ? 'timeout' : 'simulator' };
}

/** Removes the timer without acting when the command is not allowed: the sweeper would add its job again and again. */
function changeOf(ctx: Context, ride: RideState, name: TimerName, effect: Command | Change | null, at: Date): Change {
  const timers = ride.timers.filter((timer) => timer.name !== name);
  const withoutTimer: Change = { set: { timers } };
  if (!effect) return withoutTimer;
  if ('set' in effect) return { ...effect, set: { timers, ...effect.set } };
  try {
    return decide(ride, effect, at, ctx.config, name) ?? withoutTimer;
  } catch (error) {
    if (error instanceof AppError) return withoutTimer;
    throw error;
  }
}
