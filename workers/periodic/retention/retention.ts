import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { dayMs } from '../../../shared/usage/days.ts';
import type { Pace } from '../../../shared/usage/sum-rides.ts';
import { pause, rejectOnAbort } from '../../abort-signal.ts';
import { takeLease } from '../lease.ts';
import { Ended, paceOf } from '../pace.ts';
import {
  deleteExpired,
  deleteOldAudit,
  deleteOldPositions,
  deleteOldRides,
  deleteUnusedKeys,
  dropOldIdempotencyKeys,
} from './delete-old.ts';
import { eraseOldAttempts, eraseOldRides } from './erase-old.ts';

export const retentionLeaseKey = '{rides:retention}:lease';
const defaultIntervalMs = 10 * 60_000;
/** Three quarters of the time are left to requests. */
const rests = { perWork: 3, longestMs: 500 };
/** A stop waits this long at most for the query that is under way. */
const stopTimeoutMs = 500;

/** How much of what is no longer needed has gone. */
export interface Retained {
  /** Codes, sessions, submissions, limits and mails. */
  expired: number;
  idempotencyKeys: number;
  auditEntries: number;
  /** Positions of drivers who are revoked or were not heard for long. */
  positions: number;
  /** Revoked keys that never had a ride. */
  keys: number;
  ridesErased: number;
  attemptsErased: number;
  ridesDeleted: number;
  /** What failed. Each failure is logged, and the next turn tries it again. */
  failed: number;
}

/** Counts and logs a failure, and goes on with 0; throws again where the work must end. */
export type Failed = (of: object, error: unknown) => 0;

/**
 * Erases and deletes what is no longer needed, until it is stopped. Every worker process runs this, and a lease lets one at a
 * time do it, once in each interval. It can die anywhere: what is left is found again, by indexes that hold only that.
 */
export function startRetention(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const stopping = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await takeRetentionTurn(ctx, { intervalMs, signal: stopping.signal }).catch((error) => {
        if (!stopping.signal.aborted) ctx.log.warn({ error: describeError(error) }, 'the retention failed');
      });
      // Often enough that another process goes on soon after one has died.
      await pause((intervalMs / 10) * (1 + Math.random() / 4), stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await rejectOnAbort(AbortSignal.timeout(stopTimeoutMs), running).catch(() => {});
    },
  };
}

/** Erases and deletes what is due, if it is this process's turn. What is left is done in a later turn. */
export async function takeRetentionTurn(
  ctx: Context,
  { intervalMs, signal }: { intervalMs: number; signal: AbortSignal },
): Promise<void> {
  if (ctx.redis.status !== 'ready') return;
  const lease = await takeLease(ctx.redis, { key: retentionLeaseKey });
  if (!lease) return;
  let restMs = intervalMs;
  try {
    const retained = await retainOnly(ctx, ctx.now(), paceOf(lease, signal, rests));
    const found = Object.values(retained).some((count) => count > 0);
    ctx.log[found ? 'info' : 'debug'](retained, 'retention');
  } catch (error) {
    // Another process, or a later turn, goes on.
    restMs = error instanceof Ended ? 1 : intervalMs / 10;
    if (!(error instanceof Ended)) throw error;
  } finally {
    await lease.rest(restMs);
  }
}

/** Erases and deletes all that is due at a time (Unix ms). A part that fails does not keep the others. */
export async function retainOnly({ config, log }: Pick<Context, 'config' | 'log'>, nowMs: number, pace: Pace) {
  const { eraseDays, rideDays, auditDays } = config.retention;
  const now = new Date(nowMs);
  const daysAgo = (days: number) => new Date(nowMs - days * dayMs);
  let failures = 0;
  const failed: Failed = (of, error) => {
    if (error instanceof Ended || isOutageOfMongo(error)) throw error;
    failures += 1;
    log.warn({ ...of, error: describeError(error) }, 'something could not be erased');
    return 0;
  };
  const done = (part: string, work: Promise<number>) => work.catch((error) => failed({ part }, error));
  const retained: Omit<Retained, 'failed'> = {
    expired: await done('expired', deleteExpired(now, pace)),
    idempotencyKeys: await done('idempotencyKeys', dropOldIdempotencyKeys(now, pace)),
    auditEntries: await done('audit', deleteOldAudit(daysAgo(auditDays), pace)),
    positions: await done('positions', deleteOldPositions(daysAgo(eraseDays), pace)),
    keys: await done('keys', deleteUnusedKeys(daysAgo(eraseDays), pace)),
    // First, so that no ride is erased just before it is deleted.
    ridesDeleted: await done('oldRides', deleteOldRides(daysAgo(rideDays), pace)),
    ridesErased: await done('rides', eraseOldRides(daysAgo(eraseDays), pace, failed)),
    attemptsErased: await done('attempts', eraseOldAttempts(daysAgo(eraseDays), pace)),
  };
  return { ...retained, failed: failures } satisfies Retained;
}
