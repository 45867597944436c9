import mongoose from 'mongoose';
import { batch } from './batch.ts';
import { collection, recordSchema } from './collection.ts';
import { presentServer } from './connect-mongo.ts';
import { durableWrites, timeLimit } from './durability.ts';
import { NotYetCommitted } from './outage.ts';

interface Fence {
  _id: 'fence';
  writes: number;
}

/** The collection has one document. It is on the same shard as the rides, because neither collection is sharded. */
export const FenceModel = mongoose.model('Fence', recordSchema(), 'fences');
const fences = collection<Fence>(FenceModel);

/**
 * Resolves with the result of `read` once no part of it can be lost or rolled back. A durable write after the read (the
 * fence), on the same server, proves that everything before it is durable. A read concern of `majority` is not enough:
 * it hides a write that the majority does not have yet, and by the time it shows the write, the reader's cursor may be
 * past it.
 *
 * An empty result (`isNothing`) is returned without a fence. Throws NotYetCommitted if the server may have changed
 * between the read and the fence.
 */
export async function durableRead<Found>(
  read: () => Promise<Found>,
  isNothing: (found: Found) => boolean,
): Promise<Found> {
  const before = presentServer();
  const found = await read();
  if (isNothing(found)) return found;
  await writeFence();
  if (presentServer() !== before) throw new NotYetCommitted();
  return found;
}

/** Concurrent reads share one fence, which is written after all of them. */
const shared = batch<true, null>(async (asked) => {
  await fences.updateOne({ _id: 'fence' }, { $inc: { writes: 1 } }, { upsert: true, ...writeOptions() });
  return asked.map(() => null);
}, 2);
const writeFence = () => shared(true);

const writeOptions = () => ({ ...timeLimit(), writeConcern: durableWrites() });
