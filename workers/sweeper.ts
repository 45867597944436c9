import { setTimeout } from 'node:timers/promises';
import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { randomBase62 } from '../shared/ids.ts';
import { onBrokenConnection } from '../shared/mongo.ts';
import { sweep } from './sweep.ts';

const intervalMs = 2_000;
/** After an outage, until all that it may have cost is found. */
const soonMs = 500;
const leaseMs = 4_000;

const leaseKey = 'rides:sweeper:lease';
/**
 * When, by Redis's clock, the last sweep of everything began. It has no expiry: where it is missing, Redis has lost its
 * data, and every job with it.
 */
const sweptKey = 'rides:sweeper:swept';
/** An API process may reconnect a little later than this one, and until then has adds that Redis did not take. */
const allReconnectedMs = 1_500;

/**
 * Finds what has no job and adds it, for as long as the process runs: every job can be lost, because MongoDB says what
 * is to be done. It runs in every worker process, and a short lease lets one go at a time.
 */
export function startSweeper(ctx: Context): { stop(): Promise<void> } {
  let stopped = false;
  /** Redis or MongoDB was away: jobs may be missing that no one knows of. */
  let wasAway = false;
  let wake = new AbortController();
  /** A sweep of everything that began before this (ms, Redis's clock) is not enough. */
  let owedSince = 0;
  let isOwed = false;
  const noteRedisIsBack = () => {
    wasAway = true;
    wake.abort();
  };
  ctx.redis.on('ready', noteRedisIsBack);
  // A change may have been written whose answer was lost, and with it the adding of its jobs.
  const forgetMongo = onBrokenConnection(() => {
    wasAway = true;
  });

  async function sweepOnce(): Promise<void> {
    if (ctx.redis.status !== 'ready') return;
    const now = await redisNow(ctx);
    if (wasAway) owedSince = now + allReconnectedMs;
    wasAway = false;
    await sweepWithLease(ctx, now, owedSince);
    isOwed = now < owedSince;
  }

  async function run(): Promise<void> {
    while (!stopped) {
      wake = new AbortController();
      await sweepOnce().catch((error) => {
        wasAway = true;
        isOwed = false;
        ctx.log.warn({ error: describeError(error) }, 'sweep failed');
      });
      const jitter = 0.75 + Math.random() / 2;
      await setTimeout((isOwed ? soonMs : intervalMs) * jitter, undefined, { signal: wake.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      stopped = true;
      ctx.redis.off('ready', noteRedisIsBack);
      forgetMongo();
      wake.abort();
      await running;
    },
  };
}

async function redisNow(ctx: Context): Promise<number> {
  const [seconds, microseconds] = await ctx.redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

async function sweepWithLease(ctx: Context, now: number, owedSince: number): Promise<void> {
  const token = randomBase62(12);
  if ((await ctx.redis.set(leaseKey, token, 'PX', leaseMs, 'NX')) !== 'OK') return;
  const isStillMine = async () => (await ctx.redis.get(leaseKey)) === token;
  const keepLease = async () => (await isStillMine()) && (await ctx.redis.pexpire(leaseKey, leaseMs)) === 1;
  try {
    const sweptAt = await ctx.redis.get(sweptKey);
    const everything = sweptAt === null || Number(sweptAt) < owedSince;
    const swept = await sweep(ctx, { everything, mayGoOn: keepLease });
    const { timers, deliveries, stalls, failed } = swept;
    if (timers + deliveries + stalls + failed > 0) ctx.log.info({ everything, ...swept }, 'sweep');
    // Without the lease Redis may have been emptied meanwhile, and all be owed again.
    if (everything && swept.isComplete && (await keepLease())) await ctx.redis.set(sweptKey, now);
  } finally {
    if (await isStillMine()) await ctx.redis.del(leaseKey);
  }
}
