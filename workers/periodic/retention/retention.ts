import type { Context } from '../../../shared/base/context.ts';
import { dayMs } from '../../../shared/usage/days.ts';
import { logFailedPart, type Pace, type PacedWork } from '../turns.ts';
import {
  deleteExpired,
  deleteOldAudit,
  deleteOldPositions,
  deleteOldRides,
  deleteUnusedKeys,
  dropOldIdempotencyKeys,
} from './delete-old.ts';
import { eraseOldAttempts, eraseOldRides } from './erase-old.ts';

/**
 * Erases and deletes data after its retention time. An interrupted turn leaves the rest to the next one, which finds it
 * by indexes.
 */
export const retention: PacedWork = {
  leaseKey: '{rides:retention}:lease',
  intervalMs: 10 * 60_000,
  asksPerInterval: 10,
  rests: { perWork: 3, longestMs: 500 },
  failure: 'retention failed',
  async work(ctx, pace) {
    const result = await runRetention(ctx, ctx.now(), pace);
    const found = Object.values(result).some((count) => count > 0);
    ctx.log[found ? 'info' : 'debug'](result, 'retention');
  },
};

/** The numbers of erased and deleted documents. */
export interface RetentionResult {
  /** Sign-in codes, sessions, rate limits and mails. */
  expired: number;
  idempotencyKeys: number;
  auditEntries: number;
  /** Positions of revoked drivers, and of drivers who have sent none for a long time. */
  positions: number;
  /** Revoked keys that never had a ride. */
  keys: number;
  ridesErased: number;
  attemptsErased: number;
  ridesDeleted: number;
  /** Parts that failed. Each failure is logged and retried in the next turn. */
  failed: number;
}

/** Erases and deletes everything that is due at a time (Unix ms). A failing part does not block the others. */
export async function runRetention(
  { config, log }: Pick<Context, 'config' | 'log'>,
  nowMs: number,
  pace: Pace,
): Promise<RetentionResult> {
  const { eraseDays, rideDays, auditDays } = config.retention;
  const now = new Date(nowMs);
  const daysAgo = (days: number) => new Date(nowMs - days * dayMs);
  let failed = 0;
  const onError = (part: object, error: unknown): 0 => {
    logFailedPart(log, 'a part of the retention failed', part, error);
    failed += 1;
    return 0;
  };
  const done = (part: string, work: Promise<number>) => work.catch((error) => onError({ part }, error));
  const counts = {
    expired: await done('expired', deleteExpired(now, pace)),
    idempotencyKeys: await done('idempotencyKeys', dropOldIdempotencyKeys(now, pace)),
    auditEntries: await done('audit', deleteOldAudit(daysAgo(auditDays), pace)),
    positions: await done('positions', deleteOldPositions(daysAgo(eraseDays), pace)),
    keys: await done('keys', deleteUnusedKeys(daysAgo(eraseDays), pace)),
    // Rides are deleted before others are erased, so that no ride is erased just before its deletion.
    ridesDeleted: await done('oldRides', deleteOldRides(daysAgo(rideDays), pace)),
    ridesErased: await done('rides', eraseOldRides(daysAgo(eraseDays), pace, onError)),
    attemptsErased: await done('attempts', eraseOldAttempts(daysAgo(eraseDays), pace)),
  };
  return { ...counts, failed };
}
