import mongoose from 'mongoose';
import type { RedisClient } from '../../../shared/base/redis/redis-nodes.ts';
import type { Position } from '../walk.ts';

const { EJSON } = mongoose.mongo.BSON;

/** Kept in Redis for the process that continues the sweep. If it is lost, the walks begin at the front again. */
export const progressKey = '{rides:sweeper}:progress';

/** How far each walk along its index has come. */
export interface Progress {
  timers: Position;
  deliveries: Position;
  attempts: Position;
}

export const atFront = (): Progress => ({ timers: 'front', deliveries: 'front', attempts: 'front' });

export interface StoredProgress extends Progress {
  /** When the full sweep began that this is the progress of (Unix ms, Redis's clock); null for ordinary sweeps. */
  everythingSince: number | null;
}

export function readProgress(stored: string | null): StoredProgress {
  return { ...atFront(), everythingSince: null, ...(stored ? (EJSON.parse(stored) as StoredProgress) : {}) };
}

export async function storeProgress(redis: RedisClient, progress: StoredProgress): Promise<void> {
  if (isComplete(progress)) await redis.del(progressKey);
  else await redis.set(progressKey, EJSON.stringify(progress));
}

export const isComplete = ({ timers, deliveries, attempts }: Progress): boolean =>
  [timers, deliveries, attempts].every((position) => position === 'end');

/** Ordinary sweeps never end: a walk that has reached the end begins again, even if the others have not. */
export function nextRound({ timers, deliveries, attempts }: Progress): StoredProgress {
  const next = (position: Position) => (position === 'end' ? 'front' : position);
  return { timers: next(timers), deliveries: next(deliveries), attempts: next(attempts), everythingSince: null };
}
