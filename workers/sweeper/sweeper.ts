import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../shared/context.ts';
import { describeError } from '../../shared/errors.ts';
import { onBrokenConnection } from '../../shared/mongo/connection.ts';
import { isOutageOfMongo } from '../../shared/mongo/outage.ts';
import { before } from '../deadline.ts';
import { type TurnResult, takeTurn } from './turn.ts';

const defaultIntervalMs = 2_000;
/** After an outage, until all that it may have cost is found. */
const soonMs = 500;
/** An API process may reconnect a little later than this one, and until then has adds that Redis did not take. */
const allReconnectedMs = 1_500;
/** A stop waits no longer than this for a sweep to end, whatever MongoDB or Redis does. */
const stopWithinMs = 500;

/**
 * Finds what has no job and adds it, for as long as the process runs: every job can be lost, because MongoDB says what
 * is to be done. It runs in every worker process, and a lease lets one of all sweep in each interval.
 */
export function startSweeper(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const times = { owedSince: 0, redisReturnedAt: 0 };
  /** Redis or MongoDB was away: jobs may be missing that no one knows of. */
  let wasAway = false;
  let isRedisBack = false;
  let wake = new AbortController();
  const noteRedisIsBack = () => {
    wasAway = true;
    isRedisBack = true;
    wake.abort();
  };
  ctx.redis.on('ready', noteRedisIsBack);
  // A change may have been written whose answer was lost, and with it the adding of its jobs.
  const forgetMongo = onBrokenConnection(() => {
    wasAway = true;
  });

  async function sweepOnce(): Promise<TurnResult> {
    if (ctx.redis.status !== 'ready') return 'refused';
    const now = await redisNow(ctx);
    if (isRedisBack) times.redisReturnedAt = now;
    if (wasAway) times.owedSince = now + allReconnectedMs;
    wasAway = false;
    isRedisBack = false;
    return takeTurn(ctx, { now, ...times, intervalMs, soonMs, signal: stopping.signal });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      const result = await sweepOnce().catch((error): TurnResult => {
        // A broken connection to MongoDB is noted where it breaks; that MongoDB is slow costs no jobs.
        wasAway ||= !isOutageOfMongo(error);
        if (!stopping.signal.aborted) ctx.log.warn({ error: describeError(error) }, 'sweep failed');
        return 'swept';
      });
      const pauseMs = { owed: soonMs, refused: intervalMs / 2, swept: intervalMs }[result];
      // Not before the interval is over, or a process by itself would miss its turn.
      const jitter = 1 + Math.random() / 4;
      const signal = AbortSignal.any([wake.signal, stopping.signal]);
      await setTimeout(pauseMs * jitter, undefined, { signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      ctx.redis.off('ready', noteRedisIsBack);
      forgetMongo();
      stopping.abort();
      await before(AbortSignal.timeout(stopWithinMs), running).catch(() => {});
    },
  };
}

async function redisNow(ctx: Context): Promise<number> {
  const [seconds, microseconds] = await ctx.redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
