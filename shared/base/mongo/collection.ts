import mongoose from 'mongoose';

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

/** A schema with only indexes: the fields are in the record's interface. Inferred types would add `null` to each. */
export const recordSchema = () =>
  new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
