import mongoose from 'mongoose';
import { timeLimit } from './durability.ts';

/** The driver's collection of a model. Models only define schemas and indexes: queries through them are slower. */
export const collection = <T extends object>(model: { collection: unknown }) =>
  model.collection as mongoose.mongo.Collection<T>;

const duplicateKey = 11_000;

/** True if MongoDB refused a document because another one has the same id or the same value of a unique field. */
export const isDuplicate = (error: unknown): boolean => (error as { code?: number }).code === duplicateKey;

/**
 * Inserts a document unless one exists with its id or its value of a unique field; an existing one stays unchanged.
 * Resolves with true if the document was inserted. Idempotent, so the call can be repeated if the answer was lost.
 */
export async function insertOnce<Row extends { _id: string }>(
  rows: mongoose.mongo.Collection<Row>,
  row: Row,
): Promise<boolean> {
  try {
    await rows.insertOne(row as mongoose.mongo.OptionalUnlessRequiredId<Row>);
    return true;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return false;
  }
}

/** MongoDB's first reply has at most 101 documents by default. */
const inOneReply = 10_000;

/** All documents of a query. Up to `limit` or 10,000 of them arrive in one reply of MongoDB, if it is below 16 MB. */
export const findAll = <Row extends object, Found = Row>(
  rows: mongoose.mongo.Collection<Row>,
  filter: mongoose.mongo.Filter<Row>,
  options: mongoose.mongo.FindOptions,
): Promise<Found[]> =>
  rows.find(filter, { batchSize: (options.limit ?? inOneReply) + 1, ...options }).toArray() as Promise<Found[]>;

/** The documents with these ids that match the filter, in any order, each read by its id. Reads nothing without ids. */
export async function findAmong<Row extends { _id: string }, Found = Row>(
  rows: mongoose.mongo.Collection<Row>,
  ids: Iterable<string>,
  projection: object,
  filter: mongoose.mongo.Filter<Row> = {},
  options: mongoose.mongo.FindOptions = timeLimit(),
): Promise<Found[]> {
  const _id = { $in: [...new Set(ids)] };
  if (_id.$in.length === 0) return [];
  return findAll<Row, Found>(rows, { ...filter, _id } as typeof filter, { projection, hint: { _id: 1 }, ...options });
}

/** True if a document matches the filter. */
export const exists = async <Row extends object>(
  rows: mongoose.mongo.Collection<Row>,
  filter: mongoose.mongo.Filter<Row>,
  options: mongoose.mongo.FindOptions = timeLimit(),
): Promise<boolean> => (await rows.findOne(filter, { ...options, projection: { _id: 1 } })) !== null;

/** A schema with only indexes: the fields are in the record's interface. Inferred types would add `null` to each. */
export const recordSchema = () =>
  new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
