import type mongoose from 'mongoose';

/**
 * The driver's collection of a model, whose stored documents are of type `T`. Models only define schemas and indexes: a
 * query through mongoose takes longer than through the driver.
 */
export const collection = <T extends object>(model: { collection: unknown }) =>
  model.collection as mongoose.mongo.Collection<T>;

const duplicateKey = 11_000;

/** Whether MongoDB refused a document because another one has its id or another unique field. */
export const isDuplicate = (error: unknown): boolean => (error as { code?: number }).code === duplicateKey;

/**
 * Inserts a document unless one with its id exists already: then that one stays as it is. Resolves with whether it was
 * inserted. An insert whose answer was lost can therefore be repeated.
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
