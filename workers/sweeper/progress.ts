import type { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { atFront, type Progress } from './sweep.ts';

const { EJSON } = mongoose.mongo.BSON;

/** Kept in Redis for the process that goes on with the sweep. Where it is lost, the walks begin at the front again. */
export const progressKey = '{rides:sweeper}:progress';

export interface StoredProgress extends Progress {
  /** When the sweep of everything began (Unix ms, Redis's clock), of which this is the progress; null for ordinary ones. */
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

/** Ordinary sweeps go round: where one walk has ended it begins again, also while the other has not. */
export function nextRound({ timers, deliveries }: Progress): StoredProgress {
  return {
    timers: timers === 'end' ? 'front' : timers,
    deliveries: deliveries === 'end' ? 'front' : deliveries,
    everythingSince: null,
  };
}
