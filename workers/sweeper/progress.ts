import type { Redis } from 'ioredis';
import mongoose from 'mongoose';
import type { Position } from './walk.ts';

const { EJSON } = mongoose.mongo.BSON;

/** Kept in Redis for the process that continues the sweep. If it is lost, the walks begin at the front again. */
export const progressKey = '{rides:sweeper}:progress';

/** How far the walks along both indexes have come. */
export interface Progress {
  timers: Position;
  deliveries: Position;
}

export const atFront = (): Progress => ({ timers: 'front', deliveries: 'front' });

export interface StoredProgress extends Progress {
  /** When the full sweep began that this is the progress of (Unix ms, Redis's clock); null for ordinary sweeps. */
  everythingSince: number | null;
}

export function readProgress(stored: string | null): StoredProgress {
  return stored ? (EJSON.parse(stored) as StoredProgress) : { ...atFront(), everythingSince: null };
}

export async function storeProgress(redis: Redis, progress: StoredProgress): Promise<void> {
  if (isComplete(progress)) await redis.del(progressKey);
  else await redis.set(progressKey, EJSON.stringify(progress));
}

export const isComplete = ({ timers, deliveries }: Progress): boolean => timers === 'end' && deliveries === 'end';

/** Ordinary sweeps never end: a walk that has reached the end begins again, even if the other one has not. */
export function nextRound({ timers, deliveries }: Progress): StoredProgress {
  return {
    timers: timers === 'end' ? 'front' : timers,
    deliveries: deliveries === 'end' ? 'front' : deliveries,
    everythingSince: null,
  };
}
