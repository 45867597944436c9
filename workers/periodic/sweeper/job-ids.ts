import type { Queue } from 'bullmq';
import type { RedisClient } from '../../../shared/base/redis/redis-nodes.ts';

/** Larger than any count of jobs. BullMQ writes job ids in Lua, which prints integers of up to 14 digits. */
const smallestUniqueId = 1e12;

/**
 * Prevents a job id from being used twice. If a queue's counter is lost, BullMQ counts from 1 again and overwrites the jobs
 * with these ids. This starts a counter at the current Unix ms instead, above all earlier ids as long as the queue takes
 * fewer than 1,000 jobs a second on average.
 */
export async function keepJobIdsUnique(redis: RedisClient, queue: Queue, nowMs: number): Promise<void> {
  const key = queue.toKey('id');
  if (Number(await redis.get(key)) < smallestUniqueId) await redis.incrby(key, Math.floor(nowMs));
}

/** Whether these ids come from a counter that `keepJobIdsUnique` has started, so that no other job ever had one of them. */
export const areUnique = (jobIds: readonly string[]): boolean => jobIds.every((id) => Number(id) >= smallestUniqueId);
