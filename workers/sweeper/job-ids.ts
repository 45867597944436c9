import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/** More than any count of jobs; Lua, in which BullMQ writes job ids, shows whole numbers up to 14 digits. */
const leastUniqueId = 1e12;

/**
 * Keeps job ids from being used twice: where a queue's counter is lost, BullMQ counts from 1 and overwrites the jobs that
 * have these ids. Ids begin at the present Unix ms instead, so that a new counter starts above all earlier ids, as long as
 * a queue takes fewer than 1,000 jobs a second on average.
 */
export async function keepJobIdsUnique(redis: Redis, queue: Queue, nowMs: number): Promise<void> {
  const key = queue.toKey('id');
  if (Number(await redis.get(key)) < leastUniqueId) await redis.incrby(key, Math.floor(nowMs));
}

/** Whether no other job can have had one of these ids. */
export const areUnique = (jobIds: readonly string[]): boolean => jobIds.every((id) => Number(id) >= leastUniqueId);
