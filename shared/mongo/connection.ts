import mongoose from 'mongoose';
import { ConfigError } from '../config.ts';
import { endWritesWithTheirSocket } from './driver-patch.ts';

/**
 * A request is answered within 3 s also while MongoDB is away or hangs. The driver tries a read that lost its connection
 * once more, so that each try has less than half of that.
 */
export const giveUpMs = 1_300;
/** MongoDB gives up before the socket does, so that a lagging majority or a slow query is an error and not a cut connection. */
const serverLimitMs = 1_000;
const impatient = {
  serverSelectionTimeoutMS: giveUpMs,
  connectTimeoutMS: giveUpMs,
  socketTimeoutMS: giveUpMs,
  waitQueueTimeoutMS: giveUpMs,
};

/**
 * Connects the process's one mongoose connection, or throws ConfigError with what is wrong with its address. Promises
 * that every acknowledged write has reached the journal: of a majority on a replica set or behind a mongos, of the server
 * itself on a standalone. There `majority` would only trigger the flush, and a `kill -9` then lost acknowledged writes. A
 * `patient` connection waits for as long as an operation takes.
 */
export async function connectMongo(url: string, { patient = false } = {}): Promise<void> {
  endWritesWithTheirSocket();
  const { setName, msg, maxWireVersion } = await hello(url).catch((error: unknown) => {
    throw new ConfigError(`Setting MONGO_URL: ${startProblem(error)}`);
  });
  if (maxWireVersion < wireVersionOf8) throw new ConfigError('Setting MONGO_URL: MongoDB 8.0 or later is needed');
  const isStandalone = setName === undefined && msg !== 'isdbgrid';
  limit = patient ? {} : { maxTimeMS: serverLimitMs };
  durable = isStandalone
    ? { w: 1, journal: true }
    : { w: 'majority', journal: true, ...(!patient && { wtimeoutMS: serverLimitMs }) };
  committedWrite = isStandalone ? { w: 1 } : durable;
  committedRead = isStandalone ? {} : { readConcern: { level: 'majority' } };
  await mongoose.connect(url, {
    writeConcern: durable,
    ...(patient ? {} : impatient),
    // A change is read again where it was made.
    readPreference: 'primary',
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
  });
}

let limit: { maxTimeMS?: number } = {};
let durable: mongoose.mongo.WriteConcernSettings = {};
let committedWrite: mongoose.mongo.WriteConcernSettings = {};
let committedRead: mongoose.mongo.FindOptions = {};

/** Options of an operation that is answered at once. A cursor that is walked needs longer: the limit counts all its batches. */
export const promptly = (): { maxTimeMS?: number } => limit;

/**
 * Options of a read that is answered to a partner as done: what it finds cannot be rolled back any more. On a standalone
 * every read is such, and no `readConcern` is set.
 */
export const committedReads = (): mongoose.mongo.FindOptions => ({ ...committedRead, ...limit });

/**
 * Write concern of a write that proves what it was decided on: once it is acknowledged, nothing before it can be rolled
 * back. On a standalone nothing ever is, and no journal is waited for.
 */
export const committedWrites = (): mongoose.mongo.WriteConcernSettings => committedWrite;

/** A majority of the replica set does not have a ride's state yet, so that nobody can be told of it: an outage. */
export class NotYetCommitted extends Error {
  override name = 'NotYetCommitted';
}

/**
 * Inserts documents in one command, as durably as a single one, and answers for each null or the server's error: one that
 * fails does not keep the others out. Rejects where it is not known of any.
 */
export async function insertDocuments<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  documents: readonly T[],
): Promise<(null | mongoose.mongo.MongoServerError)[]> {
  const writeConcern = inCommand(durable);
  const command = { insert: collection.collectionName, documents, ordered: false, writeConcern };
  // The driver throws the reply's `writeConcernError`: what is written but not known to last is known of none.
  const { writeErrors = [] } = await database().command({ ...command, ...limit });
  const outcomes: (null | mongoose.mongo.MongoServerError)[] = documents.map(() => null);
  for (const { index, code, errmsg } of writeErrors) outcomes[index] = serverError(errmsg, code);
  return outcomes;
}

/** A change of one document; `_id` says of which, the rest of the filter whether. */
export interface Update<T> {
  filter: mongoose.mongo.Filter<T> & { _id: string };
  change: mongoose.mongo.UpdateFilter<T> | object[];
}

/**
 * Makes these changes in one command, each atomically and, unless another write concern is given, as durably as a single
 * one. Answers for each whether its filter matched, or the server's error. Rejects where it is not known of any.
 */
export async function updateDocuments<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  updates: readonly Update<T>[],
  writeConcern = durable,
): Promise<(boolean | Error)[]> {
  const command = {
    bulkWrite: 1,
    ops: updates.map(({ filter, change }) => ({ update: 0, filter, updateMods: change, multi: false })),
    nsInfo: [{ ns: `${database().databaseName}.${collection.collectionName}` }],
    ordered: false,
    errorsOnly: false,
    writeConcern: inCommand(writeConcern),
    ...limit,
  };
  const { cursor } = await mongoose.connection.getClient().db('admin').command(command);
  const outcomes = new Map((cursor.firstBatch as UpdateReply[]).map((reply) => [reply.idx, outcomeOf(reply)]));
  return updates.map((_, index) => outcomes.get(index) ?? nothingSaid());
}

type UpdateReply = { idx: number; ok: number; n: number; code: number; errmsg: string };

const outcomeOf = ({ ok, n, code, errmsg }: UpdateReply) => (ok ? n === 1 : serverError(errmsg, code));

const nothingSaid = () => new mongoose.mongo.MongoNetworkError('MongoDB said nothing of a change');

const inCommand = ({ w, journal, wtimeoutMS }: mongoose.mongo.WriteConcernSettings) => ({
  w,
  ...(journal && { j: true }),
  ...(wtimeoutMS && { wtimeout: wtimeoutMS }),
});

const serverError = (message: string, code: number) => new mongoose.mongo.MongoServerError({ message, code });

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** Calls the listener whenever a connection to MongoDB breaks or times out; answers how to stop that. */
export function onBrokenConnection(listener: () => void): () => void {
  const client = mongoose.connection.getClient();
  const noteClosed = ({ reason }: { reason: string }) => {
    if (reason === 'error') listener();
  };
  client.on('connectionClosed', noteClosed);
  return () => client.off('connectionClosed', noteClosed);
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

/** The connection broke, no server was found, or MongoDB gave up: an operation may or may not have happened. */
export function isOutageOfMongo(error: unknown): boolean {
  const { MongoNetworkError, MongoServerSelectionError, MongoNotConnectedError, MongoServerError } = mongoose.mongo;
  // Written, but not known to last: as if the answer had been lost.
  if (error instanceof mongoose.mongo.MongoWriteConcernError || error instanceof NotYetCommitted) return true;
  if (error instanceof MongoServerError) {
    return outageCodes.has(Number(error.code)) || error.hasErrorLabel('RetryableWriteError');
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    // Not exported: every connection of the pool waits for an answer that does not come.
    (error as { name?: unknown } | null)?.name === 'MongoWaitQueueTimeoutError' ||
    // While a server goes down the driver passes on the socket's own error as it is.
    brokenSocket.has(String((error as { code?: unknown } | null)?.code))
  );
}

/** No server was found, or no connection: what was asked has not left this process. */
export function wasNeverSent(error: unknown): boolean {
  const { MongoServerSelectionError, MongoNotConnectedError } = mongoose.mongo;
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    neverSent.has(String((error as { name?: unknown } | null)?.name))
  );
}

const neverSent = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClearedError']);

const brokenSocket = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTUNREACH']);
/**
 * What a server says that shuts down, is no primary any more or has run out of time, and a mongos that does not reach its
 * primary. Without a replica set it gives these no label.
 */
const outageCodes = new Set([6, 7, 50, 64, 89, 91, 133, 134, 189, 202, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

function database(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (!db) throw new mongoose.mongo.MongoNotConnectedError('not connected');
  return db;
}

/** In a line, without the address: it may hold a password. */
function startProblem(error: unknown): string {
  const { name, code } = error as { name: string; code?: string | number };
  if (name === 'MongoServerSelectionError') return 'no MongoDB answers there';
  if (name === 'MongoParseError' || name === 'TypeError') return 'is not a valid connection string';
  return `MongoDB refuses the connection (${[name, code].filter(Boolean).join(' ')})`;
}

/** A process that starts on a busy machine may wait for its first answer longer than a request. */
const startPatienceMs = 5_000;

/** The first that makes changes to several documents in one command and says of each what came of it. */
const wireVersionOf8 = 25;

/** A mongos says `msg: 'isdbgrid'`, a member of a replica set its `setName`. */
interface Hello {
  setName?: string;
  msg?: string;
  maxWireVersion: number;
}

async function hello(url: string): Promise<Hello> {
  const client = new mongoose.mongo.MongoClient(url, {
    serverSelectionTimeoutMS: startPatienceMs,
    connectTimeoutMS: startPatienceMs,
    socketTimeoutMS: startPatienceMs,
  });
  try {
    return (await client.db('admin').command({ hello: 1 })) as unknown as Hello;
  } finally {
    await client.close();
  }
}
