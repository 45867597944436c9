import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { monthOf, startOfMonth } from './days.ts';

/** The progress of the sums of all accounts. One document. */
interface UsageProgress {
  _id: 'usage';
  /** Every day before this time is summed, and every month that ends by then is closed. */
  through?: Date;
  /** Set if a page has found unsummed rides of an earlier day, for example rides that were not inserted by the API. */
  isAsked?: boolean;
}

export const UsageProgressModel = mongoose.model('UsageProgress', recordSchema(), 'usage_progress');
const progress = collection<UsageProgress>(UsageProgressModel);

const usage = { _id: 'usage' } as const;

/** Resolves with true if a day before `until` is not summed yet, or if sums were requested. Costs one small read. */
export async function isSumDue(until: Date): Promise<boolean> {
  const found = await progress.findOne(usage, timeLimit());
  return !found?.through || found.through < until || found.isAsked === true;
}

/** Records that for every account the days before `through` are summed and the months that end by then are closed. */
export async function noteSummed(through: Date): Promise<void> {
  await progress.updateOne(usage, { $max: { through }, $unset: { isAsked: '' } }, { upsert: true });
}

/** Requests new sums. Does not wait, and the request may be lost: then the next page requests them again. */
export function requestSums(): void {
  progress.updateOne(usage, { $set: { isAsked: true } }, { upsert: true, writeConcern: { w: 1 } }).catch(() => {});
}

/** The sums contain every ride that was created before this time; undefined while it is unknown. */
export async function summedThrough(): Promise<Date | undefined> {
  const found = await progress.findOne(usage, timeLimit());
  return found?.isAsked ? undefined : found?.through;
}

/** Rides from this time on may be needed: the days before are summed, the months closed. Null while unknown. */
export async function ridesNeededFrom(): Promise<Date | null> {
  const found = await progress.findOne(usage, timeLimit());
  return found?.through && !found.isAsked ? startOfMonth(monthOf(found.through)) : null;
}
