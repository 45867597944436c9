import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { monthOf, startOfMonth } from './days.ts';

/** How far the sums of all accounts go. One document. */
interface UsageProgress {
  _id: 'usage';
  /** Every day before this time is summed, and every month that ends by then is closed. */
  through?: Date;
  /** A page has found rides of an earlier day that are not in the sums: they came by another way than the API. */
  isAsked?: boolean;
}

const progressSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });

export const UsageProgressModel = mongoose.model('UsageProgress', progressSchema, 'usage_progress');
const progress = collection<UsageProgress>(UsageProgressModel);

const usage = { _id: 'usage' } as const;

/** Whether there is a day to sum or a month to close, where all days before `until` can be summed. One small read. */
export async function isSumDue(until: Date): Promise<boolean> {
  const found = await progress.findOne(usage, timeLimit());
  return !found?.through || found.through < until || found.isAsked === true;
}

/** Notes that the days and months before `through` of every account are done. */
export async function noteSummed(through: Date): Promise<void> {
  await progress.updateOne(usage, { $max: { through }, $unset: { isAsked: '' } }, { upsert: true });
}

/** Asks for the sums to be made soon. Does not wait, and may be lost: the next page asks again. */
export function askForSums(): void {
  progress.updateOne(usage, { $set: { isAsked: true } }, { upsert: true, writeConcern: { w: 1 } }).catch(() => {});
}

/** Every ride that was created before this time is in the sums; undefined while that is not known. */
export async function summedThrough(): Promise<Date | undefined> {
  const found = await progress.findOne(usage, timeLimit());
  return found?.isAsked ? undefined : found?.through;
}

/**
 * From this time on the sums and statements may still need the rides: the days before it are summed, and its months closed.
 * Null while that is not known.
 */
export async function ridesNeededFrom(): Promise<Date | null> {
  const found = await progress.findOne(usage, timeLimit());
  return found?.through && !found.isAsked ? startOfMonth(monthOf(found.through)) : null;
}
