import mongoose from 'mongoose';
import { newRideId } from '../../base/ids.ts';
import { movingStatuses } from '../../rides/ride-types.ts';
import {
  createBackupFolder,
  type Manifest,
  refused,
  type StoredDocument,
  type StoredFile,
  writeDocuments,
  writeManifest,
} from './backup-files.ts';

type Db = mongoose.mongo.Db;

/**
 * The order in which collections are copied. A document is written after the documents that it refers to: an account,
 * then a key, then a ride, then an attempt. So the copy goes the other way: whatever a copied document refers to is
 * copied later, and is still there. Collections that are not listed come first.
 */
export const copyOrder: readonly string[] = [
  'attempts',
  'mails',
  'messages',
  'positions',
  'driversessions',
  'rides',
  'ride_sums',
  'trip_sums',
  'statement_parts',
  'drivers',
  'endpoints',
  'keys',
  'audit',
  'accounts',
];

/** Sorts names of collections in the order in which they are copied. */
export const inCopyOrder = (names: readonly string[]): string[] =>
  [...names].sort((a, b) => copyOrder.indexOf(a) - copyOrder.indexOf(b) || (a < b ? -1 : 1));

/** Calls `work` with a connection of its own, because copies have no time limits. */
export async function withOwnConnection<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const client = new mongoose.mongo.MongoClient(url, { ignoreUndefined: false });
  try {
    await client.connect();
    return await work(client.db());
  } finally {
    await client.close();
  }
}

/** The name of the collection in which the time of the last backup is recorded, as `{ _id: 'backup', at }`. */
export const operationsCollection = 'operations';

/**
 * Copies every collection into files of a new folder, while the service runs. Resolves with the manifest, and records
 * the time of the backup. Throws AppError if the folder is not empty or cannot be written, for example because its disk
 * is full.
 */
export async function writeBackup(url: string, folder: string, key?: Buffer): Promise<Manifest> {
  try {
    return await copyAll(url, folder, key);
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (!syscall || error instanceof mongoose.mongo.MongoError) throw error;
    throw refused(`${folder} cannot be written (${code}): this backup is incomplete, so delete it`);
  }
}

async function copyAll(url: string, folder: string, key?: Buffer): Promise<Manifest> {
  await createBackupFolder(folder);
  const manifest = await withOwnConnection(url, async (db) => {
    const startedAt = new Date();
    const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const collections: ({ name: string } & StoredFile)[] = [];
    for (const name of inCopyOrder(names.filter((one) => !one.startsWith('system.')))) {
      const documents = name === 'rides' ? copiedRides(db) : allOf(db, name);
      collections.push({ name, ...(await writeDocuments(folder, name, documents, key)) });
    }
    return {
      format: 1 as const,
      startedAt: startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      isEncrypted: key !== undefined,
      collections,
    };
  });
  await writeManifest(folder, manifest, key);
  await withOwnConnection(url, (db) =>
    db
      .collection<{ _id: string; at: Date }>(operationsCollection)
      .updateOne({ _id: 'backup' }, { $set: { at: new Date(manifest.startedAt) } }, { upsert: true }),
  );
  return manifest;
}

const batchSize = 500;
/** Copies keep the types of numbers. Only for reading: the driver would not recognise the code of a failed write. */
const storedTypes = { promoteValues: false } as const;
const allOf = (db: Db, name: string): AsyncIterable<StoredDocument> =>
  db.collection<StoredDocument>(name, storedTypes).find({}, { batchSize }) as unknown as AsyncIterable<StoredDocument>;

interface CopiedRide extends StoredDocument {
  _id: string;
  mode: string;
  status: string;
  driver?: { driverId: string };
  nextRideId?: string;
  replacedBy?: string;
}

const isOnTrip = ({ mode, status }: CopiedRide): boolean =>
  mode === 'live' && (movingStatuses as readonly string[]).includes(status);

/**
 * The rides that exist when the copy starts, the newest first. Two rides are never copied in states that did not exist
 * together and that exclude each other:
 *
 * - A ride is copied after its successor, or the successor is copied additionally. Otherwise a restored ride would get a
 *   second successor.
 * - Rides on a trip are copied last and read again until each driver has one of them, as the unique index requires.
 */
async function* copiedRides(db: Db): AsyncGenerator<StoredDocument> {
  const rides = db.collection<CopiedRide>('rides', storedTypes);
  const newest = newRideId(Date.now() + 60_000);
  const [last] = await rides.find({}, { sort: { _id: -1 }, limit: 1, projection: { _id: 1 } }).toArray();
  const onTrip = new Set<string>();
  const successors = new Set<string>();
  const note = ({ nextRideId, replacedBy }: CopiedRide) => {
    for (const id of [nextRideId, replacedBy]) if (id && id > (last?._id ?? newest)) successors.add(id);
  };
  const existing = { _id: { $lte: last?._id ?? '' } };
  for await (const ride of rides.find(existing, { sort: { _id: -1 }, batchSize })) {
    if (isOnTrip(ride)) onTrip.add(ride._id);
    else {
      note(ride);
      yield ride;
    }
  }
  for (let left = onTrip; left.size > 0; ) {
    const drivers = new Map<string, CopiedRide | 'several'>();
    const again = new Set<string>();
    for await (const ride of readAgain(rides, left)) {
      const driverId = ride.driver?.driverId ?? ride._id;
      const other = isOnTrip(ride) ? drivers.get(driverId) : undefined;
      if (!isOnTrip(ride)) {
        note(ride);
        yield ride;
      } else if (other) {
        // One of the two trips has ended since it was read.
        again.add(ride._id);
        if (other !== 'several') again.add(other._id);
        drivers.set(driverId, 'several');
      } else drivers.set(driverId, ride);
    }
    for (const ride of drivers.values()) {
      if (ride === 'several') continue;
      note(ride);
      yield ride;
    }
    left = again;
  }
  const copied = new Set<string>();
  for (let left = [...successors]; left.length > 0; left = [...successors].filter((id) => !copied.has(id))) {
    for (const id of left) copied.add(id);
    for await (const ride of readAgain(rides, new Set(left))) {
      note(ride);
      yield ride;
    }
  }
}

async function* readAgain(rides: mongoose.mongo.Collection<CopiedRide>, ids: ReadonlySet<string>) {
  const all = [...ids];
  for (let start = 0; start < all.length; start += batchSize) {
    yield* rides.find({ _id: { $in: all.slice(start, start + batchSize) } }, { batchSize: batchSize + 1 });
  }
}
