import type mongoose from 'mongoose';
import { isDuplicate } from '../../base/mongo/collection.ts';
import { durableWrites } from '../../base/mongo/durability.ts';
import { hold } from '../../rides/held-rides.ts';
import { movingStatuses } from '../../rides/ride-types.ts';
import { type Manifest, readDocuments, refused, type StoredDocument, verifiedManifest } from './backup-files.ts';
import { inCopyOrder, withOwnConnection } from './write-backup.ts';

type Db = mongoose.mongo.Db;

/** Each of these has one document that `migrate` creates. The restored document replaces it. */
const replaced: readonly string[] = ['checks', 'operations'];
/** The mark of the event feed must never go back, so the database keeps its own (rides/feed/feed-mark.ts). */
const kept: readonly string[] = ['fences'];

export interface Restored {
  manifest: Manifest;
  /** The ids of documents that conflict with others in the backup and are not restored, by collection. */
  conflicts: Record<string, string[]>;
}

/**
 * Restores a backup into a database without documents, which `migrate` has prepared, in the reverse order of the copy:
 * accounts before keys, keys before rides, rides before attempts. Rides that were under way are held, and so are
 * redeliveries, mails and messages that were waiting. Verifies all checksums before, and all counts after. Throws AppError.
 */
export async function restoreBackup(url: string, folder: string, nowMs: number, key?: Buffer): Promise<Restored> {
  const manifest = await verifiedManifest(folder, key);
  const conflicts: Restored['conflicts'] = {};
  await withOwnConnection(url, async (db) => {
    await assertEmpty(db);
    const restore = restoredForms(new Date(nowMs));
    const byName = new Map(manifest.collections.map((collection) => [collection.name, collection]));
    for (const name of inCopyOrder([...byName.keys()]).reverse()) {
      const from = byName.get(name);
      if (!from || kept.includes(name)) continue;
      if (replaced.includes(name)) await db.collection(name).deleteMany({});
      const { read, conflicting } = await insertAll(db, name, readDocuments(folder, from, key), restore[name]);
      if (read !== from.documents)
        throw refused(`${from.file} has ${read} documents, but ${from.documents} were copied`);
      if (conflicting.length > 0) conflicts[name] = conflicting;
    }
  });
  return { manifest, conflicts };
}

async function assertEmpty(db: Db): Promise<void> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  for (const name of names) {
    if (name.startsWith('system.') || replaced.includes(name) || kept.includes(name)) continue;
    if (await db.collection(name).findOne({}, { projection: { _id: 1 } })) {
      throw refused(`The database is not empty: the collection ${name} has documents. Restore into a new database`);
    }
  }
}

type Form = (document: StoredDocument) => StoredDocument;

/** How the documents of some collections are changed: what would run on its own is held. */
function restoredForms(now: Date): Partial<Record<string, Form>> {
  const onTrips = new Map<unknown, unknown>();
  const later: Form = ({ dueAt, claim: _, ...document }) =>
    (dueAt === undefined ? document : { ...document, heldDueAt: dueAt }) as StoredDocument;
  return {
    rides(ride) {
      const { driver, status, mode } = ride as { driver?: { driverId: string }; status?: string; mode?: string };
      const isOnTrip = mode === 'live' && (movingStatuses as readonly unknown[]).includes(status);
      if (driver && isOnTrip) onTrips.set(driver.driverId, ride._id);
      return hold(ride, now);
    },
    attempts: later,
    mails: later,
    messages: later,
    // The copy of a position is older than that of the driver's ride.
    positions({ rideId: _, ...position }) {
      const rideId = onTrips.get(position._id);
      return rideId === undefined ? position : { ...position, rideId, available: false };
    },
  } as Partial<Record<string, Form>>;
}

const batchSize = 500;

async function insertAll(
  db: Db,
  name: string,
  documents: AsyncIterable<StoredDocument>,
  form: Form = (document) => document,
): Promise<{ read: number; conflicting: string[] }> {
  const collection = db.collection<StoredDocument>(name);
  const conflicting: string[] = [];
  let read = 0;
  let batch: StoredDocument[] = [];
  const insert = async () => {
    if (batch.length > 0) conflicting.push(...(await insertBatch(collection, batch)));
    batch = [];
  };
  for await (const document of documents) {
    read += 1;
    batch.push(form(document));
    if (batch.length === batchSize) await insert();
  }
  await insert();
  return { read, conflicting };
}

/** Inserts documents, and resolves with the ids of those that a unique index refuses. */
async function insertBatch(
  collection: mongoose.mongo.Collection<StoredDocument>,
  batch: StoredDocument[],
): Promise<string[]> {
  const outcome = await collection
    .insertMany(batch as never, { ordered: false, writeConcern: durableWrites() })
    .catch((error: mongoose.mongo.MongoBulkWriteError) => error);
  if (!('writeErrors' in outcome)) {
    if (outcome instanceof Error) throw outcome;
    return [];
  }
  const errors = [outcome.writeErrors].flat();
  if (errors.some(({ code }) => code !== 11_000)) throw outcome;
  return errors.map(({ index }) => String(batch[index]?._id));
}

/**
 * Lets the redeliveries, mails and messages that a restore has held run again. Resolves with their number. Deletes a held
 * redelivery if the same event has been resent since the restore and that redelivery is still pending.
 */
export async function releaseHeldWork(url: string): Promise<number> {
  return withOwnConnection(url, async (db) => {
    let released = 0;
    for (const name of ['attempts', 'mails', 'messages']) {
      const collection = db.collection(name);
      const change = [{ $set: { dueAt: '$heldDueAt' } }, { $unset: 'heldDueAt' }];
      for await (const { _id } of collection.find({ heldDueAt: { $exists: true } }, { projection: { _id: 1 } })) {
        const held = { _id, heldDueAt: { $exists: true } };
        try {
          released += Number((await collection.updateOne(held, change)).modifiedCount);
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await collection.deleteOne(held);
        }
      }
    }
    return released;
  });
}
