import mongoose from 'mongoose';

/** Replaces a method of a collection or the database for its next call. */
export function onceInsteadOf(target: object, method: string, instead: (...args: unknown[]) => unknown): void {
  const methods = target as Record<string, unknown>;
  methods[method] = (...args: unknown[]) => {
    delete methods[method];
    return instead(...args);
  };
}

export function failOnce(target: object, method: string, error: Error): void {
  onceInsteadOf(target, method, () => {
    throw error;
  });
}

/** The database. Every insert of a ride goes through its `command`. */
export function database(): mongoose.mongo.Db {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  return db;
}
