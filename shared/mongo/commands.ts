import mongoose from 'mongoose';
import { database } from './connection.ts';
import { durableWrites, timeLimit } from './durability.ts';

/**
 * Inserts documents in one command, each, unless another write concern is given, as durable as a single insert; a document
 * that fails does not stop the others. Resolves with null or the server's error for each document, in order. Rejects when the outcome of all of them is
 * unknown.
 */
export async function insertDocuments<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  documents: readonly T[],
  concern = durableWrites(),
): Promise<(null | mongoose.mongo.MongoServerError)[]> {
  const writeConcern = inCommand(concern);
  const command = { insert: collection.collectionName, documents, ordered: false, writeConcern };
  // The driver throws the reply's `writeConcernError`: written, but none of them is confirmed as durable.
  const { writeErrors = [] } = await database().command({ ...command, ...timeLimit() });
  const outcomes: (null | mongoose.mongo.MongoServerError)[] = documents.map(() => null);
  for (const { index, code, errmsg } of writeErrors) outcomes[index] = serverError(errmsg, code);
  return outcomes;
}

/** A change of one document. `_id` selects the document; the rest of the filter says whether the change applies. */
export interface Update<T> {
  filter: mongoose.mongo.Filter<T> & { _id: string };
  change: mongoose.mongo.UpdateFilter<T> | object[];
}

/**
 * Makes updates in one command, each atomic and, unless another write concern is given, as durable as a single update.
 * Resolves for each update, in order, with whether its filter matched, or with the server's error. Rejects when the
 * outcome of all of them is unknown.
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

const missingReply = () => new mongoose.mongo.MongoNetworkError("MongoDB's reply leaves out an update");

/** A write concern in the names that a command uses. */
const inCommand = ({ w, journal, wtimeoutMS }: mongoose.mongo.WriteConcernSettings) => ({
  w,
  ...(journal && { j: true }),
  ...(wtimeoutMS && { wtimeout: wtimeoutMS }),
});

const serverError = (message: string, code: number) => new mongoose.mongo.MongoServerError({ message, code });
