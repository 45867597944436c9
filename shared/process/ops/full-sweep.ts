import { setTimeout } from 'node:timers/promises';
import type { RedisClient } from '../../base/redis/redis-nodes.ts';

/**
 * The Redis key with the start of the last completed full sweep, on Redis's clock. It never expires: if it is missing,
 * Redis has lost its data and every job.
 */
export const sweptKey = '{rides:sweeper}:swept';
/** The Redis key with the result of that sweep's last stretch, as JSON. */
export const foundKey = '{rides:sweeper}:found';

/** The result of a full sweep: the number of missing jobs by kind, and of checked entries. */
type SweepCounts = Record<string, number>;

const pollMs = 100;

/**
 * Requests a full sweep from the worker processes and waits for it. Resolves with its result, or with null if none was
 * completed in time: then one is still running, or no worker process is.
 */
export async function sweepFully(redis: RedisClient, withinMs: number): Promise<SweepCounts | null> {
  const giveUpAt = performance.now() + withinMs;
  await redis.del(sweptKey, foundKey);
  while (performance.now() < giveUpAt) {
    const [swept, found] = await redis.mget(sweptKey, foundKey);
    if (swept && found) return JSON.parse(found);
    await setTimeout(pollMs);
  }
  return null;
}
