import { setTimeout } from 'node:timers/promises';
import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { randomBase62 } from '../shared/ids.ts';
import { mongoNow } from '../shared/mongo.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { enqueueNextDelivery, type Outbox } from '../shared/rides/outbox.ts';
import { type Claim, type RideState, rides } from '../shared/rides/ride.ts';
import { enqueueTimers } from '../shared/rides/timers.ts';
import { isSlow } from '../shared/webhooks/slow-keys.ts';

const intervalMs = 2_000;
const leaseMs = 4_000;
/** So long a job may be late before it is taken for lost. */
const graceMs = 10_000;

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
  let reconnected = false;
  let wake = new AbortController();
  /** A sweep of everything that began before this (ms, Redis's clock) is not enough. */
  let owedSince = 0;
  const noteReconnect = () => {
    reconnected = true;
    wake.abort();
  };
  ctx.redis.on('ready', noteReconnect);

  async function sweepOnce(): Promise<void> {
    if (ctx.redis.status !== 'ready') return;
    const now = await redisNow(ctx);
    if (reconnected) owedSince = now + allReconnectedMs;
    reconnected = false;
    await sweepWithLease(ctx, now, owedSince);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      wake = new AbortController();
      await sweepOnce().catch((error) => ctx.log.warn({ error: describeError(error) }, 'sweep failed'));
      const jitter = 0.75 + Math.random() / 2;
      await setTimeout(intervalMs * jitter, undefined, { signal: wake.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    async stop() {
      stopped = true;
      ctx.redis.off('ready', noteReconnect);
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
  try {
    const sweptAt = await ctx.redis.get(sweptKey);
    const everything = sweptAt === null || Number(sweptAt) < owedSince;
    const added = await sweep(ctx, { everything });
    if (added.timers + added.deliveries + added.stalls > 0) ctx.log.info({ everything, ...added }, 'sweep');
    // Without the lease Redis may have been emptied meanwhile, and all be owed again.
    if (everything && (await isStillMine())) await ctx.redis.set(sweptKey, now);
  } finally {
    if (await isStillMine()) await ctx.redis.del(leaseKey);
  }
}

/**
 * One walk over all rides with something left to do. Usually it adds what is overdue by the grace; with `everything`, at
 * once and also what is not due yet, since every job may be gone. Adding a job that exists changes nothing.
 */
export async function sweep(
  ctx: Context,
  { everything }: { everything: boolean },
): Promise<{ timers: number; deliveries: number; stalls: number }> {
  const now = await mongoNow();
  const overdue = new Date(now.getTime() - graceMs);
  return {
    ...(await sweepTimers(ctx, now, everything ? null : overdue)),
    deliveries: await sweepDeliveries(ctx, now, everything ? now : overdue),
  };
}

async function sweepTimers(ctx: Context, now: Date, overdue: Date | null) {
  const added = { timers: 0, stalls: 0 };
  const waiting = rides.find<Pick<RideState, '_id' | 'timers'>>(
    { nextDueAt: { $exists: true, ...(overdue && { $lte: now }) } },
    { projection: { timers: 1 }, sort: { nextDueAt: 1, _id: 1 } },
  );
  for await (const ride of waiting) {
    // Nothing else ends a trip that makes no progress, so there is no job to wait for.
    if (ride.timers.some(({ name, dueAt }) => name === 'stall' && dueAt <= now)) {
      const fired = await fireTimer(ctx, ride._id, 'stall');
      if (fired.result === 'done') added.stalls += 1;
      continue;
    }
    const missing = ride.timers.filter(({ name, dueAt }) => name !== 'stall' && (!overdue || dueAt <= overdue));
    await enqueueTimers(ctx, ride, missing, now);
    added.timers += missing.length;
  }
  return added;
}

async function sweepDeliveries(ctx: Context, now: Date, before: Date): Promise<number> {
  const unsettled = rides.find<Outbox & { oldestAt: Date; claim?: Claim }>(
    { unsettled: { $gt: 0 } },
    {
      projection: {
        keyId: 1,
        seq: 1,
        settledSeq: 1,
        claim: 1,
        oldestAt: { $arrayElemAt: ['$events.at', '$settledSeq'] },
      },
      sort: { unsettled: 1, _id: 1 },
    },
  );
  let added = 0;
  for await (const ride of unsettled) {
    if (ride.oldestAt > before || (ride.claim && ride.claim.until > now)) continue;
    await enqueueNextDelivery(ctx, ride, (await isSlow(ctx, ride.keyId)) ? 'webhooks-slow' : 'webhooks');
    added += 1;
  }
  return added;
}
