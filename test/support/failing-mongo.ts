import mongoose from 'mongoose';
import { FenceModel } from '../../shared/base/mongo/durable-read.ts';

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

const writes = [
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'findOneAndUpdate',
  'replaceOne',
  'deleteOne',
  'deleteMany',
];

/**
 * Makes the `nth` write of this process fail once, as if the connection broke: before MongoDB receives the write, or
 * after it, so that only the answer is lost. `hasFailed` reports whether that many writes occurred. Writes of the event
 * feed's mark do not count, because a timer makes them at any time.
 */
export function failNthWrite(
  nth: number,
  { answerLost }: { answerLost: boolean },
): { hasFailed(): boolean; restore(): void } {
  type Method = (this: mongoose.mongo.Collection, ...args: unknown[]) => unknown;
  const prototype = mongoose.mongo.Collection.prototype as unknown as Record<string, Method>;
  const originals = writes.map((method) => [method, prototype[method] as Method] as const);
  let seen = 0;
  for (const [method, original] of originals) {
    prototype[method] = async function (...args) {
      const isCounted = this.collectionName !== FenceModel.collection.collectionName;
      if (isCounted) seen += 1;
      if (!isCounted || seen !== nth) return original.apply(this, args);
      if (answerLost) await original.apply(this, args);
      throw new mongoose.mongo.MongoNetworkError('the connection broke');
    };
  }
  return {
    hasFailed: () => seen >= nth,
    restore: () => {
      for (const [method, original] of originals) prototype[method] = original;
    },
  };
}
