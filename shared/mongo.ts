import mongoose from 'mongoose';

/** A request is answered within 3 s also while MongoDB is away: its operations give up before that. */
const selectionTimeoutMs = 2_500;

/**
 * Connects the process's one mongoose connection. Promises that every acknowledged write has reached the journal: of a
 * majority on a replica set, of the server itself elsewhere. There `majority` would only trigger the flush, and a
 * `kill -9` then lost acknowledged writes.
 */
export async function connectMongo(url: string): Promise<void> {
  const journaled = { w: (await isReplicaSet(url)) ? 'majority' : 1, journal: true } as const;
  await mongoose.connect(url, {
    writeConcern: journaled,
    serverSelectionTimeoutMS: selectionTimeoutMs,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
  });
}

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** Resolves when MongoDB answers, rejects when it does not. */
export async function pingMongo(): Promise<void> {
  await database().command({ ping: 1 });
}

/** MongoDB's clock, by which every timer and deadline is judged: the clocks of the workers' hosts may be wrong. */
export async function mongoNow(): Promise<Date> {
  const [clock] = await database()
    .aggregate<{ now: Date }>([{ $documents: [{}] }, { $set: { now: '$$NOW' } }])
    .toArray();
  return (clock as { now: Date }).now;
}

/** The connection broke, or no server was found: an operation may or may not have happened. */
export function isOutageOfMongo(error: unknown): boolean {
  const { MongoNetworkError, MongoServerSelectionError, MongoNotConnectedError, MongoServerError } = mongoose.mongo;
  if (error instanceof MongoServerError) return error.hasErrorLabel('RetryableWriteError');
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError
  );
}

function database(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (!db) throw new mongoose.mongo.MongoNotConnectedError('not connected');
  return db;
}

async function isReplicaSet(url: string): Promise<boolean> {
  const client = new mongoose.mongo.MongoClient(url, { serverSelectionTimeoutMS: selectionTimeoutMs });
  try {
    const hello = await client.db('admin').command({ hello: 1 });
    return hello.setName !== undefined;
  } finally {
    await client.close();
  }
}
