import { setTimeout } from 'node:timers/promises';
import type { RedisClient } from '../../base/redis/redis-nodes.ts';

/**
 * The Redis key with the time at which the last completed full sweep started, by Redis's clock. The key never expires:
 * if it is missing, Redis has lost its data and every job.
 */
export const sweptAtKey = '{rides:sweeper}:swept';
/** The Redis key with the result of the sweep's last turn, as JSON. An interrupted sweep has several turns. */
export const sweepResultKey = '{rides:sweeper}:found';

/** The result of a full sweep: the number of missing jobs by kind, and of checked entries. */
type SweepCounts = Record<string, number>;

const pollMs = 100;

/**
 * Requests a full sweep from the worker processes and waits for it. Resolves with its result, or with null if it is not
 * complete in time: it takes longer, or no worker process is running.
 */
export async function sweepFully(redis: RedisClient, withinMs: number): Promise<SweepCounts | null> {
  const giveUpAt = performance.now() + withinMs;
  await redis.del(sweptAtKey, sweepResultKey);
  while (performance.now() < giveUpAt) {
    const [swept, found] = await redis.mget(sweptAtKey, sweepResultKey);
    if (swept && found) return JSON.parse(found);
    await setTimeout(pollMs);
  }
  return null;
}
