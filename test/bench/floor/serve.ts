import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import mongoose from 'mongoose';
import { answer } from '../measured/ipc.ts';

/**
 * Connects a floor to its database, with the native driver and without models. Writes wait for the journal, as in the
 * service.
 */
export async function connect(): Promise<mongoose.mongo.Db> {
  const url = process.env.MONGO_URL ?? '';
  return (await mongoose.mongo.MongoClient.connect(url, { writeConcern: { w: 1, journal: true } })).db();
}

/** Listens on a free port and reports it to the bench. */
export function serve(status: number, handle: (request: IncomingMessage) => Promise<unknown>): void {
  const server = createServer(async (request, response) => {
    const body = JSON.stringify(await handle(request));
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
  server.keepAliveTimeout = 30_000;
  answer('port', () => (server.address() as AddressInfo).port);
  server.listen(0, '127.0.0.1', () => process.send?.('ready'));
}
