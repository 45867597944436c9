import mongoose from 'mongoose';
import { type ApiKey, keys } from './api-key.ts';

/**
 * Inserts a key with the lowest free slot of its account (field `place`), which a revoked key gives up. An account has
 * the slots 1 to `most`, minus one for each active key without a slot. If two concurrent inserts choose the same slot, the unique index refuses one
 * of them, which then tries the next slot.
 */
export async function insertWithinLimit(record: ApiKey, most: number): Promise<'inserted' | 'exists' | 'full'> {
  for (;;) {
    if (await keys.findOne({ _id: record._id }, { projection: { _id: 1 } })) return 'exists';
    const place = await freeSlot(record.accountId, most);
    if (place === null) return 'full';
    try {
      await keys.insertOne({ ...record, place });
      return 'inserted';
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}

async function freeSlot(accountId: string, most: number): Promise<number | null> {
  const active = await keys.find({ accountId, revokedAt: { $exists: false } }, { projection: { place: 1 } }).toArray();
  if (active.length >= most) return null;
  const used = new Set(active.map(({ place }) => place));
  const withoutSlot = active.filter(({ place }) => place === undefined).length;
  for (let place = 1; place <= most - withoutSlot; place++) if (!used.has(place)) return place;
  return null;
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof mongoose.mongo.MongoServerError && error.code === 11_000;
