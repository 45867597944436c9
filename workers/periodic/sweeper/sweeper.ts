import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { onBrokenConnection } from '../../../shared/base/mongo/connect-mongo.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { isCluster, onRedisReturned } from '../../../shared/base/redis/redis-nodes.ts';
import { startLoop } from '../turns.ts';
import type { WalkCursor } from '../walk.ts';
import { sweepWithoutRedis } from './mongo-work.ts';
import { sweep } from './sweep.ts';
import { sweeperLeaseKey, takeSweepTurn } from './turn.ts';

const defaultIntervalMs = 2_000;
/** The interval between sweeps after an outage, until a full sweep is complete. */
const soonMs = 500;
/** API processes may reconnect up to this much later than this process, and cannot add jobs until then. */
const reconnectMs = 2_500;

/**
 * Finds and adds missing jobs until it is stopped. MongoDB holds the pending work, so losing a job is harmless. Every
 * worker process runs a sweeper. A lease lets only one of them sweep in each interval.
 */
export function startSweeper(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const times = { lastLossAt: 0, redisReturnedAt: 0 };
  /** True if jobs may be lost, because Redis or MongoDB was unavailable after the last sweep. */
  let mayHaveLostJobs = false;
  let hasRedisReturned = false;
  let cursor: WalkCursor = 'front';

  // The loop asks for the lease twice in each interval, so that a sweep follows soon if Redis loses its data and with
  // it the lease.
  const pauseMs = intervalMs / 2;
  const loop = startLoop(ctx.log, { failure: 'sweep failed', pauseMs }, async (signal) => {
    const isUnfinished = await sweepOnce(signal).catch((error) => {
      // Errors of MongoDB do not count: the listener below handles broken connections, and a slow MongoDB loses no
      // jobs.
      mayHaveLostJobs ||= !isOutageOfMongo(error);
      throw error;
    });
    return isUnfinished ? soonMs : pauseMs;
  });
  const stopNoting = onRedisReturned(ctx.redis, () => {
    mayHaveLostJobs = true;
    hasRedisReturned = true;
    loop.wake();
  });
  // A broken connection may have lost the reply to a successful write, whose jobs were then never added.
  const stopListening = onBrokenConnection(() => {
    mayHaveLostJobs = true;
  });

  /** Resolves with true while a full sweep is unfinished. */
  async function sweepOnce(signal: AbortSignal): Promise<boolean> {
    const now = await redisNow(ctx).catch((error) => {
      ctx.log.debug({ error: describeError(error) }, "the sweeper's lease cannot be read");
      return null;
    });
    if (now === null) {
      mayHaveLostJobs = true;
      await sweepWithoutLease(signal);
      return false;
    }
    if (hasRedisReturned) times.redisReturnedAt = now;
    if (mayHaveLostJobs) times.lastLossAt = now + reconnectMs;
    mayHaveLostJobs = false;
    hasRedisReturned = false;
    return takeSweepTurn(ctx, { now, ...times, intervalMs, soonMs, signal });
  }

  /** Sweeps while Redis, or the node of a Redis Cluster that holds the lease, is unavailable. */
  async function sweepWithoutLease(signal: AbortSignal): Promise<void> {
    const mayContinue = async () => !signal.aborted;
    if (isCluster(ctx.redis) && ctx.redis.status === 'ready') await sweep(ctx, { everything: false, mayContinue });
    else cursor = await sweepWithoutRedis(ctx, cursor, mayContinue);
  }

  return {
    async stop() {
      stopNoting();
      stopListening();
      await loop.stop();
    },
  };
}

/** The time of Redis's clock (Unix ms). Rejects at once while Redis is unavailable. */
async function redisNow(ctx: Context): Promise<number> {
  // In a cluster, this reads the clock of the node that holds the sweeper's keys.
  const answer = await ctx.redis.eval("return redis.call('TIME')", 1, sweeperLeaseKey);
  const [seconds, microseconds] = answer as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
