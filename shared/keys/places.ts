import mongoose from 'mongoose';
import { type ApiKey, keys } from './api-key.ts';

/**
 * Inserts a key into the lowest free place of its account. An account has `most` places, less the active keys that hold
 * none. Of two inserts at once into the same place the unique index refuses one, which then looks for the next.
 */
export async function insertInFreePlace(record: ApiKey, most: number): Promise<'inserted' | 'exists' | 'full'> {
  for (;;) {
    if (await keys.findOne({ _id: record._id }, { projection: { _id: 1 } })) return 'exists';
    const place = await freePlace(record.accountId, most);
    if (place === null) return 'full';
    try {
      await keys.insertOne({ ...record, place });
      return 'inserted';
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
}

async function freePlace(accountId: string, most: number): Promise<number | null> {
  const held = await keys
    .find(
      { accountId, $or: [{ revokedAt: { $exists: false } }, { place: { $exists: true } }] },
      { projection: { place: 1, revokedAt: 1 } },
    )
    .toArray();
  const active = held.filter(({ revokedAt }) => !revokedAt);
  if (active.length >= most) return null;
  const taken = new Set(held.map(({ place }) => place));
  const placeless = active.filter(({ place }) => place === undefined).length;
  for (let place = 1; place <= most - placeless; place++) if (!taken.has(place)) return place;
  return null;
}

const isTaken = (error: unknown): boolean => error instanceof mongoose.mongo.MongoServerError && error.code === 11_000;
