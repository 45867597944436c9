import mongoose from 'mongoose';
import { randomBase62 } from '../ids.ts';
import { isDuplicate } from '../mongo/insert-once.ts';

/** At most `most` times within any `perMs`. */
export interface Limit {
  /** Keeps the counts of one limit apart from those of another. */
  name: string;
  most: number;
  perMs: number;
}

interface LimitRow {
  _id: string;
  taken: { id: string; at: Date }[];
  expiresAt: Date;
}

const limitSchema = new mongoose.Schema<LimitRow>(
  {
    _id: String,
    taken: { type: [{ _id: false, id: String, at: Date }], required: true },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
limitSchema.index({ expiresAt: 1 });

export const LimitModel = mongoose.model<LimitRow>('Limit', limitSchema, 'limits');
const limits = LimitModel.collection as unknown as mongoose.mongo.Collection<LimitRow>;

export type Taken = { isFull: false; giveBack(): Promise<void> } | { isFull: true; freesMs: number };

/**
 * Counts once for `of`, an id, unless the limit is reached: then it resolves with how long that lasts. Each count is one
 * update of one document, so concurrent requests of all processes together never exceed the limit.
 */
export async function take(limit: Limit, of: string, nowMs: number): Promise<Taken> {
  const id = randomBase62(12);
  const { taken } = await countIn(limit, `${limit.name}:${of}`, { id, at: new Date(nowMs) });
  if (!taken.some((one) => one.id === id)) {
    const oldest = Math.min(...taken.map(({ at }) => at.getTime()));
    return { isFull: true, freesMs: Math.max(1, oldest + limit.perMs - nowMs) };
  }
  return {
    isFull: false,
    async giveBack() {
      await limits.updateOne({ _id: `${limit.name}:${of}` }, { $pull: { taken: { id } } });
    },
  };
}

/** Drops what has left the window, and then adds the new one if there is room. */
async function countIn({ most, perMs }: Limit, _id: string, one: LimitRow['taken'][number]): Promise<LimitRow> {
  const since = new Date(one.at.getTime() - perMs);
  const inWindow = { $filter: { input: { $ifNull: ['$taken', []] }, cond: { $gt: ['$$this.at', since] } } };
  const hasRoom = { $lt: [{ $size: '$taken' }, most] };
  const change = [
    { $set: { taken: inWindow } },
    { $set: { taken: { $cond: [hasRoom, { $concatArrays: ['$taken', [one]] }, '$taken'] } } },
    { $set: { expiresAt: new Date(one.at.getTime() + perMs) } },
  ];
  const count = () => limits.findOneAndUpdate({ _id }, change, { upsert: true, returnDocument: 'after' });
  try {
    return (await count()) as LimitRow;
  } catch (error) {
    // Two first counts at once: the other one has made the document.
    if (!isDuplicate(error)) throw error;
    return (await count()) as LimitRow;
  }
}
