import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { overUntil } from '../../../shared/usage/days.ts';
import { isSumDue, noteSummed } from '../../../shared/usage/progress.ts';
import { pause, rejectOnAbort } from '../../abort-signal.ts';
import { takeLease } from '../lease.ts';
import { Ended, paceOf } from '../pace.ts';
import { sumAll } from './sum-all.ts';

export const usageLeaseKey = '{rides:usage}:lease';
const defaultIntervalMs = 60_000;
/** At least half of the time is left to requests. */
const rests = { perWork: 1, longestMs: 50 };
/** A stop waits this long at most for the query that is under way. */
const stopTimeoutMs = 500;

/**
 * Sums the usage of every day that is over, and closes the months, until it is stopped (shared/usage). Every worker process
 * runs this, and a lease lets one process at a time do it. Without anything to do, that is one small read in each interval,
 * whatever number of processes there is.
 */
export function startUsageSums(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const stopping = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await takeUsageTurn(ctx, { intervalMs, signal: stopping.signal }).catch((error) => {
        if (!stopping.signal.aborted) ctx.log.warn({ error: describeError(error) }, 'summing the usage failed');
      });
      await pause(intervalMs * (1 + Math.random() / 4), stopping.signal);
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

/** Sums what can be summed, if it is this process's turn and there is something to do. What is left is done in a later turn. */
export async function takeUsageTurn(
  ctx: Context,
  { intervalMs, signal }: { intervalMs: number; signal: AbortSignal },
): Promise<void> {
  if (ctx.redis.status !== 'ready') return;
  const lease = await takeLease(ctx.redis, { key: usageLeaseKey });
  if (!lease) return;
  let restMs = intervalMs;
  try {
    const until = overUntil(ctx.now());
    if (!(await isSumDue(until))) return;
    const summed = await sumAll(ctx.log, until, paceOf(lease, signal, rests));
    if (summed.failed === 0) await noteSummed(until);
    const found = summed.rides + summed.months + summed.failed;
    ctx.log[found > 0 ? 'info' : 'debug']({ until, ...summed }, 'usage summed');
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    // Another process goes on at once.
    restMs = 1;
  } finally {
    await lease.rest(restMs);
  }
}
