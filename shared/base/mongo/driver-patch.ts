import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** The patched part of the driver's connection class, which the driver does not export. */
interface DriverConnection {
  socket: Socket;
  onError(error: Error): void;
  writeCommand(...args: unknown[]): Promise<void>;
}

const requireOfMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
let isPatched = false;

/**
 * Works around a bug of driver 7.8. If a socket is destroyed but has not emitted `close` yet, a command written to it
 * waits forever for `drain`; the time limit of the socket does not apply. This happens when the server dies under load.
 * If it happens to the driver's monitor, the process never finds the server again.
 *
 * With the patch, the wait ends when the socket closes, and the command fails as on any broken connection. The patch
 * also enforces the send limits of writes (`limitSend`).
 *
 * The patched class is internal to the driver, so package.json pins the exact version of mongoose (9.12.1).
 */
export function patchWritesToClosedSockets(): void {
  if (isPatched) return;
  isPatched = true;
  const { Connection } = requireOfMongoose('mongodb/lib/cmap/connection.js') as {
    Connection: { prototype: DriverConnection };
  };
  const { writeCommand } = Connection.prototype;
  Connection.prototype.writeCommand = async function (this: DriverConnection, ...args: unknown[]) {
    const { socket } = this;
    if (socket.destroyed) {
      const error = new mongoose.mongo.MongoNetworkError('the connection is closed');
      this.onError(error);
      throw error;
    }
    const [message] = args as [{ command?: Parameters<typeof checkSendLimits>[0] }];
    if (message.command) checkSendLimits(message.command);
    // After `drain`, the driver checks the connection again, finds it closed and fails the command.
    const wake = () => socket.emit('drain');
    socket.once('close', wake);
    try {
      await writeCommand.apply(this, args);
    } finally {
      socket.off('close', wake);
    }
  };
}

/** Thrown if a write was not sent before its send limit. The caller must decide again whether to write. */
export class SendLimitPassed extends Error {
  override name = 'SendLimitPassed';
}

interface SendLimit {
  /** The latest time to send the update, by this process's monotonic clock (ms). */
  before: number;
  wasSent: boolean;
}

const limits = new WeakMap<object, SendLimit>();

/**
 * Sets the send limit of the update with this filter: it is sent only before `before` (performance.now(), ms), however
 * long it waits for a server, a connection, a batch or the driver's own retry. After the limit, the update fails with
 * SendLimitPassed if it was never sent, and with an outage error if an earlier try was sent.
 */
export function limitSend(filter: object, before: number): void {
  limits.set(filter, { before, wasSent: false });
}

/** The patch calls this with each command, right before its bytes are written. */
function checkSendLimits({ updates, ops }: { updates?: unknown; ops?: unknown }): void {
  for (const filter of [...filtersOf(updates, 'q'), ...filtersOf(ops, 'filter')]) {
    const limit = limits.get(filter);
    if (!limit) continue;
    if (performance.now() >= limit.before) {
      throw limit.wasSent
        ? new mongoose.mongo.MongoNetworkError('the send limit has passed: the write is not repeated')
        : new SendLimitPassed();
    }
    limit.wasSent = true;
  }
}

/** The filters of a command's updates. The driver's own bulk writes, with another format, have no send limit. */
const filtersOf = (updates: unknown, field: string): object[] =>
  Array.isArray(updates) ? updates.map((update) => update[field]).filter(Boolean) : [];
