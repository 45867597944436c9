import { AppError } from '../base/errors.ts';
import { earliestMs } from './opening.ts';
import type { RideRequest } from './ride-types.ts';

const latestMs = 30 * 24 * 3_600_000;

/**
 * Throws a 400 if the pickup is not 15 minutes to 30 days after `now` (Unix ms). Call it only for a new time: a repeat of
 * an earlier request gets its answer even if the time has passed.
 */
export function assertPickupTime({ pickupAt }: Pick<RideRequest, 'pickupAt'>, now: number): void {
  const aheadMs = pickupAt ? pickupAt.getTime() - now : earliestMs;
  if (aheadMs >= earliestMs && aheadMs <= latestMs) return;
  const message = 'pickupAt must be 15 minutes to 30 days ahead, as Unix time in milliseconds';
  throw new AppError('invalid_request', { message, faults: [{ field: 'pickupAt', code: 'out_of_range', message }] });
}
