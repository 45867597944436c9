import type { Context } from '../../shared/context.ts';
import { describeError } from '../../shared/errors.ts';
import { overUntil } from '../../shared/usage/days.ts';
import { isSumDue, noteSummed } from '../../shared/usage/progress.ts';
import type { Pace } from '../../shared/usage/sum-rides.ts';
import { pause, rejectOnAbort } from '../abort-signal.ts';
import { type Lease, takeLease } from '../sweeper/lease.ts';
import { Ended, sumAll } from './sum-all.ts';

export const usageLeaseKey = '{rides:usage}:lease';
const defaultIntervalMs = 60_000;
/** The lease is renewed after this time. It lasts several times as long. */
const renewMs = 500;
const longestRestMs = 50;
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
    const summed = await sumAll(ctx.log, until, paceOf(lease, signal));
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

/** Rests as long as the work since the last call took, so that at least half of the time is left to requests. */
export function paceOf(lease: Lease, signal: AbortSignal): Pace {
  let renewedAt = performance.now();
  let restedAt = performance.now();
  return async () => {
    await pause(Math.min(longestRestMs, performance.now() - restedAt), signal);
    if (signal.aborted) throw new Ended();
    if (performance.now() - renewedAt > renewMs) {
      if (!(await lease.keep())) throw new Ended();
      renewedAt = performance.now();
    }
    restedAt = performance.now();
  };
}
