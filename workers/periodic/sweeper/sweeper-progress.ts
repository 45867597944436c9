import mongoose from 'mongoose';
import type { RedisClient } from '../../../shared/base/redis/redis-nodes.ts';
import type { WalkCursor } from '../walk.ts';

const { EJSON } = mongoose.mongo.BSON;

/**
 * The Redis key of the progress, from which any process can continue the sweep. If the key is lost, the walks start at
 * the front.
 */
export const progressKey = '{rides:sweeper}:progress';

/** The cursors of the walks. */
export interface Progress {
  timers: WalkCursor;
  deliveries: WalkCursor;
  attempts: WalkCursor;
}

export const atFront = (): Progress => ({ timers: 'front', deliveries: 'front', attempts: 'front' });

export interface StoredProgress extends Progress {
  /** When this full sweep started (Unix ms, Redis's clock); null for ordinary sweeps. */
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
  [timers, deliveries, attempts].every((cursor) => cursor === 'end');

/** The progress for the next ordinary sweep. A walk that has reached the end starts at the front again. */
export function nextRound({ timers, deliveries, attempts }: Progress): StoredProgress {
  const next = (cursor: WalkCursor) => (cursor === 'end' ? 'front' : cursor);
  return { timers: next(timers), deliveries: next(deliveries), attempts: next(attempts), everythingSince: null };
}
