import { randomInt } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Change } from './decide.ts';
import type { RideState } from './ride-types.ts';

/** At most this many wrong PINs are admitted in `triesMs`, so a driver cannot try them all. */
const mostTries = 5;
const triesMs = 10 * 60_000;

/**
 * The change that stores a wrong PIN (contract, section 10.19), so the limit holds for all processes; null if the ride
 * has no PIN, or this one. Throws `pin_locked` after 5 wrong ones in 10 minutes, and `wrong_pin` without a PIN.
 */
export function wrongPin(
  { pinCode, wrongPinsAt = [] }: Pick<RideState, 'pinCode' | 'wrongPinsAt'>,
  pin: string | undefined,
  now: Date,
): Change | null {
  if (!pinCode) return null;
  const tries = wrongPinsAt.filter((at) => now.getTime() - at.getTime() < triesMs);
  if (tries.length >= mostTries) throw new AppError('pin_locked');
  if (pin === pinCode) return null;
  if (!pin) throw new AppError('wrong_pin');
  return { set: { wrongPinsAt: [...tries, now] } };
}

/** Four random digits. */
export const newPin = (): string => String(randomInt(10_000)).padStart(4, '0');
