import mongoose from 'mongoose';
import { randomBase62 } from '../base/ids.ts';
import { collection, isDuplicate } from '../base/mongo/collection.ts';

/** At most `most` times within any `perMs`. */
export interface Limit {
  /** Keeps the counts of one limit apart from those of another. */
  name: string;
  most: number;
  perMs: number;
  /** The pause before the next count, by the number of counts within `perMs`; none beyond the end of the list. */
  pausesMs?: readonly number[];
}

interface LimitRow {
  _id: string;
  taken: { id: string; at: Date }[];
  /** The number of a window (takeInWindow). */
  count?: number;
  expiresAt: Date;
}

const limitSchema = new mongoose.Schema<LimitRow>(
  {
    _id: String,
    taken: { type: [{ _id: false, id: String, at: Date }], required: true },
    count: Number,
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
limitSchema.index({ expiresAt: 1 });

export const LimitModel = mongoose.model<LimitRow>('Limit', limitSchema, 'limits');
const limits = collection<LimitRow>(LimitModel);

/** `count`: how many are counted now, this one included. */
export type Taken = { isFull: false; count: number; giveBack(): Promise<void> } | { isFull: true; freesMs: number };

/**
 * Counts once for `of`, an id, unless the limit is reached: then it resolves with how long that lasts. Each count is one
 * update of one document, so concurrent requests of all processes together never exceed the limit. The same `id` is counted
 * once: a form that is sent again is not charged again.
 */
export async function take(limit: Limit, of: string, nowMs: number, id = randomBase62(12)): Promise<Taken> {
  const { taken } = await countIn(limit, `${limit.name}:${of}`, { id, at: new Date(nowMs) });
  if (!taken.some((one) => one.id === id)) return { isFull: true, freesMs: Math.max(1, waitOf(limit, taken, nowMs)) };
  return { isFull: false, count: taken.length, giveBack: () => giveBack(limit, of, id) };
}

/** Takes back one count. Without others, nothing of it stays stored. */
export async function giveBack(limit: Limit, of: string, id: string): Promise<void> {
  const _id = `${limit.name}:${of}`;
  await limits.updateOne({ _id }, { $pull: { taken: { id } } });
  await limits.deleteOne({ _id, taken: { $size: 0 } });
}

/**
 * How long a limit stays reached, in ms: 0 while there is room, or when this `id` is counted already. It reads only: a
 * request that is refused by it stores nothing.
 */
export async function waitFor(
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

/** Drops what has left the window, and then adds the new one if there is room. */
async function countIn(
  { most, perMs, pausesMs = [] }: Limit,
  _id: string,
  one: LimitRow['taken'][number],
): Promise<LimitRow> {
  const since = new Date(one.at.getTime() - perMs);
  const inWindow = { $filter: { input: { $ifNull: ['$taken', []] }, cond: { $gt: ['$$this.at', since] } } };
  const isThere = { $in: [one.id, '$taken.id'] };
  const hasRoom = { $lt: [{ $size: '$taken' }, most] };
  const pauseMs = { $ifNull: [{ $arrayElemAt: [pausesMs, { $size: '$taken' }] }, 0] };
  // The maximum of no counts is null, which is less than every time.
  const isPaused = { $gt: [{ $max: '$taken.at' }, { $subtract: [one.at, pauseMs] }] };
  const isOpen = { $and: [{ $not: [isThere] }, hasRoom, ...(pausesMs.length > 0 ? [{ $not: [isPaused] }] : [])] };
  const change = [
    { $set: { taken: inWindow } },
    { $set: { taken: { $cond: [isOpen, { $concatArrays: ['$taken', [one]] }, '$taken'] } } },
    { $set: { expiresAt: new Date(one.at.getTime() + perMs) } },
  ];
  const count = () => limits.findOneAndUpdate({ _id }, change, { upsert: true, returnDocument: 'after' });
  return (await orAgain(count)) as LimitRow;
}

/**
 * Counts once in the current window of `perMs` (a clock hour, for example), unless it has `most` already: then it resolves with
 * how long the window lasts, else with 0. One number for a window: the cost stays the same however large `most` is.
 */
export async function takeInWindow({ name, most, perMs }: Limit, nowMs: number): Promise<number> {
  const { _id, endMs } = windowOf({ name, perMs }, nowMs);
  const isOpen = { _id, count: { $lt: most } };
  const change = { $inc: { count: 1 }, $setOnInsert: { taken: [], expiresAt: new Date(endMs) } };
  try {
    await limits.updateOne(isOpen, change, { upsert: true });
    return 0;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    // Either the window is full, or two first counts collided: then the document is there now.
    const { matchedCount } = await limits.updateOne(isOpen, { $inc: { count: 1 } });
    return matchedCount > 0 ? 0 : endMs - nowMs;
  }
}

/** How long the current window stays full, in ms; 0 while it has room. It reads only. */
export async function waitForWindow({ name, most, perMs }: Limit, nowMs: number): Promise<number> {
  const { _id, endMs } = windowOf({ name, perMs }, nowMs);
  const row = await limits.findOne({ _id });
  return (row?.count ?? 0) >= most ? endMs - nowMs : 0;
}

function windowOf({ name, perMs }: Pick<Limit, 'name' | 'perMs'>, nowMs: number): { _id: string; endMs: number } {
  const index = Math.floor(nowMs / perMs);
  return { _id: `${name}:${index}`, endMs: (index + 1) * perMs };
}

async function orAgain<T>(count: () => Promise<T>): Promise<T> {
  try {
    return await count();
  } catch (error) {
    // Two first counts at once: the other one has made the document.
    if (!isDuplicate(error)) throw error;
    return count();
  }
}
