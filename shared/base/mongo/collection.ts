import type mongoose from 'mongoose';

/**
 * The driver's collection of a model, whose stored documents are of type `T`. Models only define schemas and indexes: a
 * query through mongoose takes longer than through the driver.
 */
export const collection = <T extends object>(model: { collection: unknown }) =>
  model.collection as mongoose.mongo.Collection<T>;
