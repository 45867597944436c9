import mongoose from 'mongoose';
import { ConfigError } from '../errors.ts';
import { patchWritesToClosedSockets } from './driver-patch.ts';
import { chooseDurability, durableWrites } from './durability.ts';

/**
 * The time limit of one try of an operation. A request is answered within 3 s even while MongoDB is unreachable or
 * hangs. The driver repeats a read once after a lost connection, so one try gets less than half of the 3 s.
 */
export const tryLimitMs = 1_300;
const tryLimits = {
  serverSelectionTimeoutMS: tryLimitMs,
  connectTimeoutMS: tryLimitMs,
  socketTimeoutMS: tryLimitMs,
  waitQueueTimeoutMS: tryLimitMs,
};

/** The time limit at the start: longer, because the first answer can be slow on a busy machine. */
const startLimitMs = 5_000;

/** The first version with the `bulkWrite` command, which reports the outcome of each update in a batch. */
const wireVersionOf8 = 25;

/**
 * Opens the process's one mongoose connection. Every acknowledged write is in the journal: of a majority on a replica
 * set or behind a mongos, of the server itself on a standalone (durability.ts). With `timeLimits: false`, operations
 * have no time limit, because building an index may take long. If the connection is open already, it stays as it is, also
 * its time limits. Throws ConfigError with one line, without the address, if no server answers, the address is invalid or
 * the server is too old.
 */
export async function connectMongo(url: string, { timeLimits = true } = {}): Promise<void> {
  if (mongoose.connection.readyState === mongoose.ConnectionStates.connected) {
    // Throws if it leads elsewhere.
    await mongoose.connect(url);
    return;
  }
  patchWritesToClosedSockets();
  const { setName, msg, maxWireVersion } = await hello(url).catch((error: unknown) => {
    throw new ConfigError(`Setting MONGO_URL${addressProblem(error)}`);
  });
  if (maxWireVersion < wireVersionOf8) throw new ConfigError('Setting MONGO_URL: MongoDB 8.0 or later is required');
  chooseDurability({ isStandalone: setName === undefined && msg !== 'isdbgrid', timeLimits });
  await mongoose.connect(url, {
    writeConcern: durableWrites(),
    ...(timeLimits && tryLimits),
    // Reads only from the primary: a ride is read right after it was changed, and a secondary may not have the change
    // yet.
    readPreference: 'primary',
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
  });
}

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** The connected database. Without a connection, throws MongoNotConnectedError, which counts as an outage. */
export function database(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (!db) throw new mongoose.mongo.MongoNotConnectedError('not connected');
  return db;
}

/** Resolves when MongoDB answers, rejects when it does not. */
export async function pingMongo(): Promise<void> {
  await database().command({ ping: 1 });
}

/** Calls the listener whenever a connection to MongoDB breaks or times out. The returned function unsubscribes it. */
export function onBrokenConnection(listener: () => void): () => void {
  const client = mongoose.connection.getClient();
  const noteClosed = ({ reason }: { reason: string }) => {
    if (reason === 'error') listener();
  };
  client.on('connectionClosed', noteClosed);
  return () => client.off('connectionClosed', noteClosed);
}

const servers = new WeakMap<object, object>();

/** The server that the driver writes to: an object that is replaced each time the driver loses or changes its server. */
export function presentServer(): object {
  const client = mongoose.connection.getClient();
  const known = servers.get(client);
  if (known) return known;
  const replace = () => servers.set(client, {});
  replace();
  client.on('topologyDescriptionChanged', replace);
  return presentServer();
}

/** The reply to `hello`: a mongos sends `msg: 'isdbgrid'`, a member of a replica set its `setName`. */
interface Hello {
  setName?: string;
  msg?: string;
  maxWireVersion: number;
}

async function hello(url: string): Promise<Hello> {
  const client = new mongoose.mongo.MongoClient(url, {
    serverSelectionTimeoutMS: startLimitMs,
    connectTimeoutMS: startLimitMs,
    socketTimeoutMS: startLimitMs,
  });
  try {
    return (await client.db('admin').command({ hello: 1 })) as unknown as Hello;
  } finally {
    await client.close();
  }
}

/**
 * The reason that the first connection failed, as a text that follows "Setting MONGO_URL". It names only hosts and
 * ports: the rest of the address may hold a password.
 */
export function addressProblem(error: unknown): string {
  const { name, code, codeName } = error as { name: string; code?: string | number; codeName?: string };
  if (error instanceof mongoose.mongo.MongoServerSelectionError) return `: ${describeUnreachable(error)}`;
  if (name === 'MongoParseError' || name === 'TypeError') return ' is not a valid connection string';
  if (code === 'ENOTFOUND') return ': DNS does not resolve its host (ENOTFOUND)';
  return `: MongoDB refuses the connection (${[name, code, codeName].filter(Boolean).join(' ')})`;
}

/** Lists the servers that were asked, each with its error. The driver leaves out servers of another replica set. */
function describeUnreachable({ reason }: mongoose.mongo.MongoServerSelectionError): string {
  const servers = [...((reason as mongoose.mongo.TopologyDescription | undefined)?.servers.values() ?? [])];
  if (servers.length === 0) return 'no MongoDB of this replica set was found';
  const isAnswering = servers.some(({ type }) => type !== 'Unknown');
  const asked = servers.map(({ address, error }) => {
    const code = (error?.cause as { code?: string } | undefined)?.code;
    return code ? `${address} (${code})` : address;
  });
  return `no MongoDB ${isAnswering ? 'is the primary' : 'answers'} at ${asked.join(', ')}`;
}
