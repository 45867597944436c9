import mongoose from 'mongoose';
import { batch } from './batch.ts';
import { collection } from './collection.ts';
import { durableWrites, timeLimit } from './durability.ts';
import { NotYetCommitted } from './outage.ts';

interface Fence {
  _id: 'fence';
  writes: number;
}

const fenceSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
/** One document, in the shard where unsharded collections are, as the rides are. */
export const FenceModel = mongoose.model('Fence', fenceSchema, 'fences');
const fences = collection<Fence>(FenceModel);

/**
 * Resolves with what `read` finds once nothing of it can be lost or rolled back: a durable write that follows the read
 * on the same server proves all that was there before it. A read concern of `majority` would not do: it hides a write
 * that the majority does not have yet, and shows a later one once the clock has moved on. An empty result (`isNothing`)
 * needs no proof. Throws NotYetCommitted when the server may have changed in between.
 */
export async function durableRead<Found>(
  read: () => Promise<Found>,
  isNothing: (found: Found) => boolean,
): Promise<Found> {
  const changes = topologyChanges();
  const before = changes.count;
  const found = await read();
  if (isNothing(found)) return found;
  await writeFence();
  if (changes.count !== before) throw new NotYetCommitted();
  return found;
}

/** Concurrent reads share a write that begins after all of them. */
const shared = batch<true, null>(async (asked) => {
  await fences.updateOne({ _id: 'fence' }, { $inc: { writes: 1 } }, { upsert: true, ...writeOptions() });
  return asked.map(() => null);
}, 2);
const writeFence = () => shared(true);

const writeOptions = () => ({ ...timeLimit(), writeConcern: durableWrites() });

const counted = new WeakMap<object, { count: number }>();

/** Counts how often the driver has lost or changed its server since it was connected. */
export function topologyChanges(): { count: number } {
  const client = mongoose.connection.getClient();
  const known = counted.get(client);
  if (known) return known;
  const changes = { count: 0 };
  counted.set(client, changes);
  client.on('topologyDescriptionChanged', () => {
    changes.count += 1;
  });
  return changes;
}
