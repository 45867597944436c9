import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** The part of the driver's connection that is mended here; the driver does not export it. */
interface DriverConnection {
  socket: Socket;
  onError(error: Error): void;
  writeCommand(...args: unknown[]): Promise<void>;
}

const requireOfMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
let isMended = false;

/**
 * Driver 7.8 can wait for ever: a command that is written to a socket that has just been destroyed, and whose `close` is
 * still to come, waits for a `drain` that never comes, and no time limit holds on such a socket. When the server dies
 * under load this meets an operation now and then, and sometimes the monitor, after which the process never finds the
 * server again. With this, the wait ends with the socket, and the command fails as any other on a broken connection.
 */
export function endWritesWithTheirSocket(): void {
  if (isMended) return;
  isMended = true;
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
    // The driver looks once more whether the connection stands before it waits for the answer.
    const wake = () => socket.emit('drain');
    socket.once('close', wake);
    try {
      await writeCommand.apply(this, args);
    } finally {
      socket.off('close', wake);
    }
  };
}
