import mongoose from 'mongoose';
import { randomBase62 } from '../base/ids.ts';
import { collection, isDuplicate, recordSchema } from '../base/mongo/collection.ts';

/** A rate limit: at most `most` charges within any `perMs`. */
export interface Limit {
  /** A unique name, which is part of the id of each bucket. */
  name: string;
  most: number;
  perMs: number;
  /** The pauses before the next charge: entry n applies after n charges within `perMs`. No pause after the last. */
  pausesMs?: readonly number[];
}

interface LimitRow {
  _id: string;
  /** `by`: the call that charged this id. */
  taken: { id: string; at: Date; by: string }[];
  /** Only in the row of a fixed window (`chargeWindow`): the number of charges in the window. */
  count?: number;
  expiresAt: Date;
}

const limitSchema = recordSchema();
limitSchema.index({ expiresAt: 1 });

export const LimitModel = mongoose.model<LimitRow>('Limit', limitSchema, 'limits');
const limits = collection<LimitRow>(LimitModel);

/**
 * The result of a charge. `count`: the charges in the window, with this one. `isNew`: false if an earlier or concurrent
 * call has charged the same id. `freesMs`: the time until the limit admits another charge.
 */
export type ChargeResult =
  | { isFull: false; count: number; isNew: boolean; refund(): Promise<void> }
  | { isFull: true; freesMs: number };

/**
 * Charges the bucket `of` once, unless the limit is reached. A charge is one update of one document, so concurrent
 * requests never exceed the limit, in any number of processes. The same `id` is charged only once, so a form that is
 * sent again is not charged again.
 */
export async function charge(limit: Limit, of: string, nowMs: number, id = randomBase62(12)): Promise<ChargeResult> {
  const by = randomBase62(12);
  const { taken } = await addCharge(limit, `${limit.name}:${of}`, { id, at: new Date(nowMs), by });
  const charged = taken.find((one) => one.id === id);
  if (!charged) return { isFull: true, freesMs: Math.max(1, waitOf(limit, taken, nowMs)) };
  return { isFull: false, count: taken.length, isNew: charged.by === by, refund: () => refund(limit, of, id) };
}

/** Removes one charge, and the bucket's document if it was the last one. */
export async function refund(limit: Limit, of: string, id: string): Promise<void> {
  const _id = `${limit.name}:${of}`;
  await limits.updateOne({ _id }, { $pull: { taken: { id } } });
  await limits.deleteOne({ _id, taken: { $size: 0 } });
}

/**
 * Reads a bucket without charging it, so that a request can be refused without storing anything. `waitMs` is the time
 * until the limit admits another charge; it is 0 while there is room and for an `id` that is already charged
 * (`isCounted`).
 */
export async function readLimit(
  limit: Limit,
  of: string,
  nowMs: number,
  id: string,
): Promise<{ waitMs: number; isCounted: boolean }> {
  const row = await limits.findOne({ _id: `${limit.name}:${of}` });
  const isCounted = row?.taken.some((one) => one.id === id) ?? false;
  return { waitMs: !row || isCounted ? 0 : Math.max(0, waitOf(limit, row.taken, nowMs)), isCounted };
}

function waitOf({ most, perMs, pausesMs = [] }: Limit, taken: LimitRow['taken'], nowMs: number): number {
  const times = taken.map(({ at }) => at.getTime()).filter((at) => at > nowMs - perMs);
  if (times.length >= most) return Math.min(...times) + perMs - nowMs;
  return times.length === 0 ? 0 : Math.max(...times) + (pausesMs[times.length] ?? 0) - nowMs;
}

/** Adds a charge if the limit admits it, after removing the charges that have left the window. */
async function addCharge(
  { most, perMs, pausesMs = [] }: Limit,
  _id: string,
  one: LimitRow['taken'][number],
): Promise<LimitRow> {
  const since = new Date(one.at.getTime() - perMs);
  const inWindow = { $filter: { input: { $ifNull: ['$taken', []] }, cond: { $gt: ['$$this.at', since] } } };
  const isThere = { $in: [one.id, '$taken.id'] };
  const hasRoom = { $lt: [{ $size: '$taken' }, most] };
  const pauseMs = { $ifNull: [{ $arrayElemAt: [pausesMs, { $size: '$taken' }] }, 0] };
  // An empty bucket has no pause: its $max is null, which MongoDB sorts before every time.
  const isPaused = { $gt: [{ $max: '$taken.at' }, { $subtract: [one.at, pauseMs] }] };
  const isOpen = { $and: [{ $not: [isThere] }, hasRoom, ...(pausesMs.length > 0 ? [{ $not: [isPaused] }] : [])] };
  const change = [
    { $set: { taken: inWindow } },
    { $set: { taken: { $cond: [isOpen, { $concatArrays: ['$taken', [one]] }, '$taken'] } } },
    { $set: { expiresAt: new Date(one.at.getTime() + perMs) } },
  ];
  const count = () => limits.findOneAndUpdate({ _id }, change, { upsert: true, returnDocument: 'after' });
  return (await retryDuplicate(count)) as LimitRow;
}

/**
 * Charges the current fixed window of `perMs` (for example a clock hour). Resolves with 0 if it was charged, else with
 * the time until the window ends (ms). A window is stored as one number, so the cost does not depend on `most`.
 */
export async function chargeWindow({ name, most, perMs }: Limit, nowMs: number): Promise<number> {
  const { _id, endMs } = windowOf({ name, perMs }, nowMs);
  const isOpen = { _id, count: { $lt: most } };
  const change = { $inc: { count: 1 }, $setOnInsert: { taken: [], expiresAt: new Date(endMs) } };
  try {
    await limits.updateOne(isOpen, change, { upsert: true });
    return 0;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // The window is full, or another request inserted its document at the same time. In the second case, the update
    // succeeds.
    const { matchedCount } = await limits.updateOne(isOpen, { $inc: { count: 1 } });
    return matchedCount > 0 ? 0 : endMs - nowMs;
  }
}

/** Removes one charge of the window that was current at `nowMs`. */
export async function refundWindow({ name, perMs }: Pick<Limit, 'name' | 'perMs'>, nowMs: number): Promise<void> {
  const { _id } = windowOf({ name, perMs }, nowMs);
  await limits.updateOne({ _id, count: { $gt: 0 } }, { $inc: { count: -1 } });
}

function windowOf({ name, perMs }: Pick<Limit, 'name' | 'perMs'>, nowMs: number): { _id: string; endMs: number } {
  const index = Math.floor(nowMs / perMs);
  return { _id: `${name}:${index}`, endMs: (index + 1) * perMs };
}

async function retryDuplicate<T>(count: () => Promise<T>): Promise<T> {
  try {
    return await count();
  } catch (error) {
    // Another request inserted the document at the same time. The second try then updates that document.
    if (!isDuplicate(error)) throw error;
    return count();
  }
}
