import type { Context } from '../base/context.ts';
import { AppError } from '../base/errors.ts';
import { changeRide } from './change-ride.ts';
import { type Change, type Command, decide } from './decide.ts';
import type { RideRef } from './read-ride.ts';
import type { Origin, RideState } from './ride-types.ts';

/** At most this many wrong PINs are admitted in `triesMs`, so a driver cannot try them all. */
const mostTries = 5;
const triesMs = 10 * 60_000;

/**
 * Like `applyAction`, for somebody who needs the PIN of the passenger to start a trip. Resolves with null for a ride that
 * is unknown or belongs to another owner. Throws `wrong_pin` and `pin_locked` too.
 */
export async function applyWithPin(
  ctx: Context,
  ref: RideRef,
  commandOf: (ride: RideState) => Command | null,
  pin: string | undefined,
  origin?: Origin,
): Promise<RideState | null> {
  const changed = await changeRide(
    ctx,
    ref,
    (ride, at, now) => {
      const command = commandOf(ride);
      const change = command && decide(ride, command, { at, now }, ctx.config);
      const wrong = command?.action === 'start' ? wrongPin(ride, pin, now) : null;
      return { change: wrong ?? change, result: { isWrong: wrong !== null } };
    },
    origin,
  );
  if (changed?.result.isWrong) throw new AppError('wrong_pin');
  return changed?.ride ?? null;
}

/**
 * The change that stores a wrong PIN (contract, section 10.19), so the limit holds for all processes; null if the ride
 * has no PIN, or this one. Throws `pin_locked` after 5 wrong ones in 10 minutes, and `wrong_pin` without a PIN.
 */
function wrongPin(
  { pinCode, wrongPinsAt = [] }: Pick<RideState, 'pinCode' | 'wrongPinsAt'>,
  pin: string | undefined,
  now: Date,
): Change | null {
  if (!pinCode) return null;
  // A try can be dated ahead if MongoDB's clock was set back.
  const tries = wrongPinsAt.filter((at) => Math.abs(now.getTime() - at.getTime()) < triesMs);
  if (tries.length >= mostTries) throw new AppError('pin_locked');
  if (pin === pinCode) return null;
  if (!pin) throw new AppError('wrong_pin');
  return { set: { wrongPinsAt: [...tries, now] } };
}
