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
/** So many rides are looked at side by side, and between two batches the lease is renewed. */
const batchSize = 100;

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

export interface Swept {
  timers: number;
  deliveries: number;
  stalls: number;
  /** Rides that could not be seen to; the next sweep comes by them again. */
  failed: number;
  /** Every ride was seen to, and Redis took every job. */
  isComplete: boolean;
}

/**
 * One walk over all rides with something left to do. Usually it adds what is overdue by the grace; with `everything`, at
 * once and also what is not due yet, since every job may be gone. Adding a job that exists changes nothing. It ends
 * early where `mayGoOn` says so.
 */
export async function sweep(
  ctx: Context,
  { everything, mayGoOn = async () => true }: { everything: boolean; mayGoOn?: () => Promise<boolean> },
): Promise<Swept> {
  const now = await mongoNow();
  const overdue = new Date(now.getTime() - graceMs);
  const swept: Swept = { timers: 0, deliveries: 0, stalls: 0, failed: 0, isComplete: true };
  // One ride that fails must not hide the others.
  const failed = () => {
    swept.failed += 1;
  };
  const visitDue = (ride: DueRide) => sweepTimers(ctx, swept, ride, now, everything ? null : overdue).catch(failed);
  const visitUnsettled = (ride: UnsettledRide) =>
    sweepDelivery(ctx, swept, ride, now, everything ? now : overdue).catch(failed);
  const ended = [
    await walk(dueRides(now, everything), visitDue, mayGoOn),
    await walk(unsettledRides(), visitUnsettled, mayGoOn),
  ];
  swept.isComplete &&= ended.every(Boolean) && swept.failed === 0;
  return swept;
}

/** Some rides at a time; answers whether it came to the end. */
async function walk<T>(
  cursor: AsyncIterable<T>,
  visit: (ride: T) => Promise<void>,
  mayGoOn: () => Promise<boolean>,
): Promise<boolean> {
  let batch: Promise<void>[] = [];
  for await (const ride of cursor) {
    batch.push(visit(ride));
    if (batch.length < batchSize) continue;
    await Promise.all(batch);
    batch = [];
    if (!(await mayGoOn())) return false;
  }
  await Promise.all(batch);
  return true;
}

type DueRide = Pick<RideState, '_id' | 'timers'>;

const dueRides = (now: Date, everything: boolean) =>
  rides.find<DueRide>(
    { nextDueAt: { $exists: true, ...(!everything && { $lte: now }) } },
    { projection: { timers: 1 }, sort: { nextDueAt: 1, _id: 1 } },
  );

async function sweepTimers(ctx: Context, swept: Swept, ride: DueRide, now: Date, overdue: Date | null): Promise<void> {
  // Nothing else ends a trip that makes no progress, so there is no job to wait for.
  if (ride.timers.some(({ name, dueAt }) => name === 'stall' && dueAt <= now)) {
    const fired = await fireTimer(ctx, ride._id, 'stall');
    if (fired.result === 'done') swept.stalls += 1;
    return;
  }
  const missing = ride.timers.filter(({ name, dueAt }) => name !== 'stall' && (!overdue || dueAt <= overdue));
  swept.isComplete = (await enqueueTimers(ctx, ride, missing, now)) && swept.isComplete;
  swept.timers += missing.length;
}

type UnsettledRide = Outbox & { oldestAt: Date; claim?: Claim };

const unsettledRides = () =>
  rides.find<UnsettledRide>(
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

async function sweepDelivery(ctx: Context, swept: Swept, ride: UnsettledRide, now: Date, before: Date): Promise<void> {
  if (ride.oldestAt > before || (ride.claim && ride.claim.until > now)) return;
  const pool = (await isSlow(ctx, ride.keyId)) ? 'webhooks-slow' : 'webhooks';
  swept.isComplete = (await enqueueNextDelivery(ctx, ride, pool)) && swept.isComplete;
  swept.deliveries += 1;
}
