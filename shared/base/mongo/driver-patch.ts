import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** The part of the driver's connection class that is patched; the driver does not export the class. */
interface DriverConnection {
  socket: Socket;
  onError(error: Error): void;
  writeCommand(...args: unknown[]): Promise<void>;
}

const requireOfMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
let isPatched = false;

/**
 * Patches a bug of driver 7.8: a command written to a socket that is destroyed but has not emitted `close` waits for
 * ever for `drain`, and the socket's time limit does not apply. It happens when the server dies under load; when it
 * hits the driver's monitor, the process never finds the server again. With the patch the wait ends with the socket,
 * and the command fails like any other on a broken connection. The patch also holds writes to their send limits.
 *
 * The patched class is internal to the driver, so package.json pins mongoose 9.12.1, which brings it, exactly.
 */
export function endWritesWithTheirSocket(): void {
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
    // After `drain` the driver checks the connection again before it waits for the answer, and fails the command.
    const wake = () => socket.emit('drain');
    socket.once('close', wake);
    try {
      await writeCommand.apply(this, args);
    } finally {
      socket.off('close', wake);
    }
  };
}

/** The time at which a write must have left this process has passed, and it never left. Decide it again. */
export class SendLimitPassed extends Error {
  override name = 'SendLimitPassed';
}

interface SendLimit {
  /** On this process's monotonic clock (ms). */
  before: number;
  wasSent: boolean;
}

const limits = new WeakMap<object, SendLimit>();

/**
 * The update with this filter is written to a connection before `before` (performance.now(), ms) or never: not after it
 * has waited for a server, a connection or a batch, and not again by the driver's own retry. Then it fails: with
 * SendLimitPassed when it was never sent, with an outage when an earlier try was.
 */
export function limitSend(filter: object, before: number): void {
  limits.set(filter, { before, wasSent: false });
}

/** Called by the driver's patch with each command, right before its bytes are written. */
function checkSendLimits({ updates, ops }: { updates?: unknown; ops?: unknown }): void {
  for (const filter of [...filtersOf(updates, 'q'), ...filtersOf(ops, 'filter')]) {
    const limit = limits.get(filter);
    if (!limit) continue;
    if (performance.now() >= limit.before) {
      throw limit.wasSent
        ? new mongoose.mongo.MongoNetworkError('too late to repeat the write')
        : new SendLimitPassed();
    }
    limit.wasSent = true;
  }
}

/** The driver's own bulks have another form; no update in them has a limit. */
const filtersOf = (updates: unknown, field: string): object[] =>
  Array.isArray(updates) ? updates.map((update) => update[field]).filter(Boolean) : [];
