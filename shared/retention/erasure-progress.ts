import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';

/** The progress of the erasure of attempts. The collection has one document. */
interface RetentionProgress {
  _id: 'retention';
  /** The attempts up to this id are erased. */
  attemptsThrough?: string;
}

const progressSchema = recordSchema();

export const RetentionProgressModel = mongoose.model('RetentionProgress', progressSchema, 'retention_progress');
const progress = collection<RetentionProgress>(RetentionProgressModel);

const retention = { _id: 'retention' } as const;

/** The id of the last erased attempt, after which erasing continues; initially an empty text. */
export async function erasedThrough(): Promise<string> {
  return (await progress.findOne(retention, timeLimit()))?.attemptsThrough ?? '';
}

/** Records that the attempts up to this id are erased. Losing the record only repeats an erasure, without harm. */
export async function noteErased(attemptsThrough: string): Promise<void> {
  await progress.updateOne(retention, { $max: { attemptsThrough } }, { upsert: true, writeConcern: { w: 1 } });
}
