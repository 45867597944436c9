import mongoose from 'mongoose';

const duplicateKey = 11_000;

/** Inserts a document, or leaves the one that another process has inserted first. */
export async function insertOnce<T extends object>(
  collection: mongoose.mongo.Collection<T>,
  document: mongoose.mongo.OptionalUnlessRequiredId<T>,
): Promise<void> {
  try {
    await collection.insertOne(document);
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError && error.code === duplicateKey)) throw error;
  }
}
