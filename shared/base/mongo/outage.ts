import mongoose from 'mongoose';

/** Thrown for a ride's state that the majority does not have yet, so nobody may see it. Counts as an outage. */
export class NotYetCommitted extends Error {
  override name = 'NotYetCommitted';
}

/**
 * True if an operation failed because of an outage: the connection broke, no server was found, or MongoDB's time limit
 * passed. The operation may have been executed.
 */
export function isOutageOfMongo(error: unknown): boolean {
  const { MongoNetworkError, MongoServerSelectionError, MongoNotConnectedError, MongoServerError } = mongoose.mongo;
  // The write was executed but not confirmed as durable, so it is treated like a write whose answer was lost.
  if (error instanceof mongoose.mongo.MongoWriteConcernError || error instanceof NotYetCommitted) return true;
  // For a batch of writes, the driver wraps the connection's error in a server error.
  if (error instanceof mongoose.mongo.MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return isOutageOfMongo(error.errorResponse);
  }
  if (error instanceof MongoServerError) {
    return outageCodes.has(Number(error.code)) || error.hasErrorLabel('RetryableWriteError');
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    // Thrown while every connection of the pool is in use. The driver does not export this class.
    (error as { name?: unknown } | null)?.name === 'MongoWaitQueueTimeoutError' ||
    // While a server shuts down, the driver may throw the socket's own error.
    socketErrors.has(String((error as { code?: unknown } | null)?.code))
  );
}

/** True if an operation failed before it left this process: no server was found, or no connection was free. */
export function wasNeverSent(error: unknown): boolean {
  const { MongoServerSelectionError, MongoNotConnectedError } = mongoose.mongo;
  return (
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNotConnectedError ||
    neverSent.has(String((error as { name?: unknown } | null)?.name))
  );
}

const neverSent = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClearedError']);

const socketErrors = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTUNREACH']);

/**
 * Error codes of a server that is shutting down, is no longer the primary or has exceeded a time limit, and of a mongos
 * that cannot reach its primary. A server without a replica set does not label these errors.
 */
const outageCodes = new Set([6, 7, 50, 64, 89, 91, 133, 134, 189, 202, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
