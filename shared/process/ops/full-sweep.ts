import { setTimeout } from 'node:timers/promises';
import type { RedisClient } from '../../base/redis/redis-nodes.ts';

/**
 * When the last completed full sweep began, by Redis's clock. The key has no expiry: if it is missing, Redis has lost its
 * data and every job.
 */
export const sweptKey = '{rides:sweeper}:swept';
/** What the last stretch of that sweep found, as JSON. */
export const foundKey = '{rides:sweeper}:found';

/** What a full sweep found, in numbers: the jobs that were missing, by kind, and what was looked at. */
type Found = Record<string, number>;

const lookMs = 100;

/**
 * Asks the worker processes for a full sweep, and waits for it. Resolves with what it found, or with null when none was
 * completed in time: then one goes on, or no worker process is running.
 */
export async function sweepFully(redis: RedisClient, withinMs: number): Promise<Found | null> {
  const giveUpAt = performance.now() + withinMs;
  await redis.del(sweptKey, foundKey);
  while (performance.now() < giveUpAt) {
    const [swept, found] = await redis.mget(sweptKey, foundKey);
    if (swept && found) return JSON.parse(found);
    await setTimeout(lookMs);
  }
  return null;
}
