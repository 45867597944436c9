import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { fareDays, fareProgress, keptDays, ofEarlierVersions } from '../../../shared/fares/fare-days.ts';
import { dayMs, dayOf, overUntil } from '../../../shared/usage/days.ts';
import type { Pace } from '../../../shared/usage/sum-rides.ts';
import { pause, rejectOnAbort } from '../../abort-signal.ts';
import { takeLease } from '../lease.ts';
import { Ended, paceOf } from '../pace.ts';
import { countDay } from './count-day.ts';

export const faresLeaseKey = '{rides:fares}:lease';
const defaultIntervalMs = 60_000;
/** At least half of the time is left to requests. */
const rests = { perWork: 1, longestMs: 50 };
/** A stop waits this long at most for the query that is under way. */
const stopTimeoutMs = 500;

/**
 * Counts the fares of every day that is over, for the fare hint, until it is stopped. Every worker process runs this, and a
 * lease lets one process at a time do it. Without anything to do, that is one small read in each interval.
 */
export function startFareDays(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const stopping = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await takeFareTurn(ctx, { intervalMs, signal: stopping.signal }).catch((error) => {
        if (!stopping.signal.aborted) ctx.log.warn({ error: describeError(error) }, 'counting the fares failed');
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

/** Counts the days that can be counted, if it is this process's turn. What is left is done in a later turn. */
export async function takeFareTurn(
  ctx: Context,
  { intervalMs, signal }: { intervalMs: number; signal: AbortSignal },
): Promise<void> {
  if (ctx.redis.status !== 'ready') return;
  const lease = await takeLease(ctx.redis, { key: faresLeaseKey });
  if (!lease) return;
  let restMs = intervalMs;
  try {
    const trips = await countDays(overUntil(ctx.now()), paceOf(lease, signal, rests));
    if (trips > 0) ctx.log.info({ trips }, 'fares counted');
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    // Another process goes on at once.
    restMs = 1;
  } finally {
    await lease.rest(restMs);
  }
}

/**
 * Counts the days before `until` (the start of a day) that are not counted yet, and the last counted one again, since some of
 * its rides were completed later. Deletes the days that no hint is made of.
 */
async function countDays(until: Date, pace: Pace): Promise<number> {
  const first = new Date(until.getTime() - keptDays * dayMs);
  const known = await fareProgress.findOne({ _id: 'completed' }, timeLimit());
  if (known && known.through >= until) return 0;
  let day = new Date(Math.max(first.getTime(), (known?.through.getTime() ?? 0) - dayMs));
  let trips = 0;
  while (day < until) {
    trips += await countDay(day, pace);
    day = new Date(day.getTime() + dayMs);
    await fareProgress.updateOne({ _id: 'completed' }, { $max: { through: day } }, { upsert: true });
  }
  await pace();
  await fareDays.deleteMany({ $or: [{ day: { $lt: dayOf(first) } }, ofEarlierVersions] });
  return trips;
}
