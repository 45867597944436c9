import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { onBrokenConnection } from '../../../shared/base/mongo/connection.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { isCluster, onRedisReturned } from '../../../shared/base/redis/redis-nodes.ts';
import { startLoop } from '../turns.ts';
import type { Position } from '../walk.ts';
import { sweepWithoutRedis } from './mongo-work.ts';
import { sweep } from './sweep.ts';
import { sweeperLeaseKey, takeSweepTurn } from './turn.ts';

const defaultIntervalMs = 2_000;
/** The interval after an outage, until a full sweep has found every lost job. */
const soonMs = 500;
/** An API process may reconnect a little later than this one, and its adds fail until then. */
const reconnectMs = 2_500;

/**
 * Finds rides whose jobs are missing and adds the jobs, until it is stopped. So losing a job is harmless: MongoDB says what
 * is left to do. Every worker process runs a sweeper, and a lease lets one process at a time sweep in each interval.
 */
export function startSweeper(ctx: Context, { intervalMs = defaultIntervalMs } = {}): { stop(): Promise<void> } {
  const times = { lastLossAt: 0, redisReturnedAt: 0 };
  /** Redis or MongoDB was unavailable since the last sweep, so jobs may be lost. */
  let mayHaveLostJobs = false;
  let hasRedisReturned = false;
  let position: Position = 'front';

  // Twice in each interval: when Redis loses its data, and the lease with it, the next sweep comes soon.
  const pauseMs = intervalMs / 2;
  const loop = startLoop(ctx.log, { failure: 'sweep failed', pauseMs }, async (signal) => {
    const isUnfinished = await sweepOnce(signal).catch((error) => {
      // A broken connection to MongoDB is noted by its listener, and a slow MongoDB loses no jobs.
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
  // A change may be written and only its answer lost: then nobody has added its jobs.
  const stopListening = onBrokenConnection(() => {
    mayHaveLostJobs = true;
  });

  /** Resolves with whether a full sweep is still unfinished. */
  async function sweepOnce(signal: AbortSignal): Promise<boolean> {
    const now = await redisNow(ctx).catch((error) => {
      ctx.log.debug({ error: describeError(error) }, 'the lease of the sweeper cannot be read');
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

  /** All of Redis is away, or the node of a Redis Cluster that holds the lease. */
  async function sweepWithoutLease(signal: AbortSignal): Promise<void> {
    const mayGoOn = async () => !signal.aborted;
    if (isCluster(ctx.redis) && ctx.redis.status === 'ready') await sweep(ctx, { everything: false, mayGoOn });
    else position = await sweepWithoutRedis(ctx, position, mayGoOn);
  }

  return {
    async stop() {
      stopNoting();
      stopListening();
      await loop.stop();
    },
  };
}

/** Rejects at once while Redis is away. */
async function redisNow(ctx: Context): Promise<number> {
  // In a cluster, the clock of the node that holds the sweeper's keys.
  const answer = await ctx.redis.eval("return redis.call('TIME')", 1, sweeperLeaseKey);
  const [seconds, microseconds] = answer as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
