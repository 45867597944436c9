import type mongoose from 'mongoose';

/** Below the limit of the socket, so that a slow query or a lagging majority ends with the server's error. */
const serverLimitMs = 1_000;

let limit: { maxTimeMS?: number } = {};
let durable: mongoose.mongo.WriteConcernSettings = {};
let committedWrite: mongoose.mongo.WriteConcernSettings = {};
let committedRead: mongoose.mongo.FindOptions = {};

/**
 * Chooses the options below for the server that this process connects to. A replica set or a mongos acknowledges a
 * write when a majority has it in the journal. A standalone server must be asked for its own journal: with `majority`
 * it acknowledges a write before the journal is flushed, and a `kill -9` has lost such writes.
 */
export function chooseDurability({ isStandalone, timeLimits }: { isStandalone: boolean; timeLimits: boolean }): void {
  limit = timeLimits ? { maxTimeMS: serverLimitMs } : {};
  durable = isStandalone
    ? { w: 1, journal: true }
    : { w: 'majority', journal: true, ...(timeLimits && { wtimeoutMS: serverLimitMs }) };
  committedWrite = isStandalone ? { w: 1 } : durable;
  committedRead = isStandalone ? {} : { readConcern: { level: 'majority' } };
}

/** The server's time limit for one operation. Not for a cursor in batches: it would limit all of them together. */
export const timeLimit = (): { maxTimeMS?: number } => limit;

/** Write concern of a durable write: it survives a crash, and on a replica set also a failover. */
export const durableWrites = (): mongoose.mongo.WriteConcernSettings => durable;

/**
 * Options of a read whose result is reported to a partner: no failover can roll back the result. A standalone server
 * has no failover, so it needs no `readConcern`.
 */
export const committedReads = (): mongoose.mongo.FindOptions => ({ ...committedRead, ...limit });

/**
 * Write concern of a write that proves an earlier state: once it is acknowledged, no failover can roll back anything
 * before it. A standalone server has no failover, so the write does not wait for the journal.
 */
export const committedWrites = (): mongoose.mongo.WriteConcernSettings => committedWrite;
