import DataLoader from 'dataloader';
import mongoose from 'mongoose';
import { database } from './connect-mongo.ts';
import { durableWrites, timeLimit } from './durability.ts';

/** An operation waits at most this long before it is sent, even if an earlier batch hangs. */
const maxWaitMs = 50;
const maxBatchSize = 200;
/** Four overlapping batches keep client and server busy. More would make the batches too small. */
const defaultConcurrency = 4;
/** Updates cost MongoDB the most: one batch at a time makes larger ones, which saves more than the wait costs. */
const updateConcurrency = 1;

let spacingMs = 0;
let spacedFrom = 0;
/** The rate of operations is an average of about this long. */
const rateOverMs = 200;

/**
 * From now on in this process, batches of the same kind start at least `ms` milliseconds apart while at least `from`
 * operations of that kind are requested a second. An operation is sent at once if the last batch of its kind is older;
 * otherwise it waits for the next one, which is then larger. Fewer and larger batches cost this process and MongoDB
 * less. With fewer operations, less would be saved, and none waits. For workers: nobody waits for a job to the
 * millisecond.
 */
export function spaceBatches(ms: number, from = 0): void {
  spacingMs = ms;
  spacedFrom = from;
}

/**
 * Combines operations that are requested at the same time into one batch. `run` gets the batch and returns a value or
 * an Error for each operation, in order. An operation joins only a batch that has not been sent, so a read always
 * starts after it was requested. A batch is sent at once, unless `concurrency` batches are already in flight or
 * `spaceBatches` delays it. With `windowMs`, every batch instead waits that long for further operations.
 */
export function batch<Asked, Answer>(
  run: (batch: readonly Asked[]) => Promise<readonly (Answer | Error)[]>,
  concurrency = defaultConcurrency,
  windowMs = 0,
): (asked: Asked) => Promise<Answer> {
  let inFlight = 0;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let perSecond = 0;
  let waiting: (() => void)[] = [];

  async function send(batch: readonly Asked[]): Promise<readonly (Answer | Error)[]> {
    inFlight += 1;
    const now = performance.now();
    perSecond = perSecond * Math.exp((lastSentAt - now) / rateOverMs) + (batch.length * 1_000) / rateOverMs;
    lastSentAt = now;
    try {
      return await run(batch);
    } finally {
      inFlight -= 1;
      for (const send of waiting.splice(0)) send();
    }
  }

  function schedule(dispatch: () => void): void {
    if (windowMs > 0) {
      setTimeout(dispatch, windowMs);
      return;
    }
    if (inFlight < concurrency) {
      sendSpaced(dispatch);
      return;
    }
    const timer = setTimeout(() => sendNow(), maxWaitMs);
    const sendNow = () => {
      clearTimeout(timer);
      waiting = waiting.filter((other) => other !== sendNow);
      sendSpaced(dispatch);
    };
    waiting.push(sendNow);
  }

  function sendSpaced(dispatch: () => void): void {
    const waitMs = perSecond < spacedFrom ? 0 : lastSentAt + spacingMs - performance.now();
    if (waitMs > 0) setTimeout(dispatch, waitMs);
    // Sends at the end of this turn of the event loop, so that operations of the same turn share the batch.
    else setImmediate(dispatch);
  }

  const loader = new DataLoader(send, { cache: false, maxBatchSize, batchScheduleFn: schedule });
  return (asked) => loader.load(asked);
}

/**
 * Finds documents by a unique text field; concurrent finds share one query. Resolves with null if no document matches.
 * `options` is called for each query, because the options depend on the server that is connected at that time.
 */
export function batchedFind<Stored extends object, Found = Stored>(
  collection: mongoose.mongo.Collection<Stored>,
  field: keyof Stored & keyof Found & string,
  projection: object,
  options: () => mongoose.mongo.FindOptions = timeLimit,
  windowMs = 0,
): (value: string) => Promise<Found | null> {
  const run = (values: readonly string[]) =>
    findEach<Stored, Found>(collection, field, values, { ...options(), projection });
  return batch(run, defaultConcurrency, windowMs);
}

/** The document for each value, in the order of the values, or null if none matches. A value may occur twice. */
async function findEach<Stored extends object, Found>(
  collection: mongoose.mongo.Collection<Stored>,
  field: keyof Stored & keyof Found & string,
  values: readonly string[],
  options: mongoose.mongo.FindOptions,
): Promise<(Found | null)[]> {
  const filter = { [field]: oneOf(values) } as mongoose.mongo.Filter<Stored>;
  const projection = { ...options.projection, [field]: 1 };
  // The reply contains all documents: by default the first reply of MongoDB has at most 101.
  const cursor = collection.find(filter, { ...options, projection, batchSize: values.length + 1 });
  const found = (await cursor.toArray()) as Found[];
  const byValue = new Map(found.map((document) => [document[field] as unknown, document]));
  return values.map((value) => byValue.get(value) ?? null);
}

/** The condition that a field has one of these values. MongoDB answers equality fastest, so one needs no `$in`. */
export function oneOf(values: readonly string[]): string | { $in: string[] } {
  const [first = '', ...others] = new Set(values);
  return others.length === 0 ? first : { $in: [first, ...others] };
}

/**
 * Updates documents by `_id`; concurrent updates share one command, and each is atomic and durable. Resolves with true
 * if the filter matched. A filter with more fields than `_id` costs MongoDB about twice as much, because it must plan a
 * query.
 */
export function batchedWrite<Stored extends { _id: string }>(
  collection: mongoose.mongo.Collection<Stored>,
): (update: Update<Stored>) => Promise<boolean> {
  return batch<Update<Stored>, boolean>(async (updates) => {
    const [only, ...others] = updates;
    if (!only || others.length > 0) return updateDocuments(collection, updates);
    const options = { ...timeLimit(), writeConcern: durableWrites() };
    return [(await collection.updateOne(only.filter, only.change, options)).matchedCount === 1];
  }, updateConcurrency);
}

/**
 * Like `batchedWrite`, but also reads the documents, with a second command if the batch has several updates. Resolves
 * with the fields in `projection` as they are after this update or a later one, or with null if the filter did not
 * match.
 */
export function batchedUpdate<Stored extends { _id: string }, Found extends { _id: string }>(
  collection: mongoose.mongo.Collection<Stored>,
  projection: object,
  { writeConcern }: { writeConcern?: () => mongoose.mongo.WriteConcernSettings } = {},
): (update: Update<Stored>) => Promise<Found | null> {
  return batch<Update<Stored>, Found | null>(async (updates) => {
    const [only, ...others] = updates;
    if (only && others.length === 0) {
      const concern = writeConcern && { writeConcern: writeConcern() };
      const after = { ...timeLimit(), ...concern, projection, returnDocument: 'after' } as const;
      return [(await collection.findOneAndUpdate(only.filter, only.change, after)) as Found | null];
    }
    const outcomes = await updateDocuments(collection, updates, writeConcern?.());
    const ids = updates.map(({ filter }) => filter._id);
    const found = await findEach<Stored, Found>(collection, '_id', ids, { ...timeLimit(), projection });
    return outcomes.map((outcome, index) => (outcome === true ? (found[index] ?? null) : outcome || null));
  }, updateConcurrency);
}

/** Inserts documents; concurrent inserts share one command, and each succeeds or fails on its own. */
export function batchedInsert<T extends object>(
  collection: mongoose.mongo.Collection<T>,
): (document: T) => Promise<null> {
  return batch<T, null>((documents) => insertDocuments(collection, documents));
}

/**
 * Inserts documents in one command, each as durable as a single insert unless another write concern is given. A
 * document that fails does not stop the others. Resolves with null or the server's error for each document, in order.
 * Rejects if the outcome of all of them is unknown.
 */
export async function insertDocuments<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  documents: readonly T[],
  concern = durableWrites(),
): Promise<(null | mongoose.mongo.MongoServerError)[]> {
  const writeConcern = inCommand(concern);
  const command = { insert: collection.collectionName, documents, ordered: false, writeConcern };
  // The driver throws the reply's `writeConcernError`: the documents are written, but not confirmed as durable.
  const { writeErrors = [] } = await database().command({ ...command, ...timeLimit() });
  const outcomes: (null | mongoose.mongo.MongoServerError)[] = documents.map(() => null);
  for (const { index, code, errmsg } of writeErrors) outcomes[index] = serverError(errmsg, code);
  return outcomes;
}

/** A change of one document: `_id` in the filter selects it, and the other fields are conditions. */
export interface Update<T> {
  filter: mongoose.mongo.Filter<T> & { _id: string };
  change: mongoose.mongo.UpdateFilter<T> | object[];
}

/**
 * Updates documents in one command, each atomically and, unless another write concern is given, as durably as a single
 * update. Resolves with true (the filter matched), false or the server's error for each update, in order. Rejects when
 * the outcome of all of them is unknown.
 */
export async function updateDocuments<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  updates: readonly Update<T>[],
  writeConcern = durableWrites(),
): Promise<(boolean | Error)[]> {
  const command = {
    bulkWrite: 1,
    ops: updates.map(({ filter, change }) => ({ update: 0, filter, updateMods: change, multi: false })),
    nsInfo: [{ ns: `${database().databaseName}.${collection.collectionName}` }],
    ordered: false,
    errorsOnly: false,
    writeConcern: inCommand(writeConcern),
    ...timeLimit(),
  };
  const { cursor } = await mongoose.connection.getClient().db('admin').command(command);
  const outcomes = new Map((cursor.firstBatch as UpdateReply[]).map((reply) => [reply.idx, outcomeOf(reply)]));
  return updates.map((_, index) => outcomes.get(index) ?? missingReply());
}

type UpdateReply = { idx: number; ok: number; n: number; code: number; errmsg: string };

const outcomeOf = ({ ok, n, code, errmsg }: UpdateReply) => (ok ? n === 1 : serverError(errmsg, code));

const missingReply = () => new mongoose.mongo.MongoNetworkError("MongoDB's reply lacks an update");

/** Converts a write concern from the driver's field names to those of commands. */
const inCommand = ({ w, journal, wtimeoutMS }: mongoose.mongo.WriteConcernSettings) => ({
  w,
  ...(journal && { j: true }),
  ...(wtimeoutMS && { wtimeout: wtimeoutMS }),
});

const serverError = (message: string, code: number) => new mongoose.mongo.MongoServerError({ message, code });
