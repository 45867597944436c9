import type { Socket } from 'node:net';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connection.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';

/** What the driver keeps to itself: the connections with which it watches a server and works on it. */
interface Driver {
  topology: { s: { servers: Map<string, { monitor: { connection: Connection } }> } };
}
interface Connection {
  socket: Socket;
  command(namespace: { db: string }, command: object, options: object): Promise<unknown>;
}

describe('the driver of MongoDB', () => {
  beforeEach(() => connectMongo(process.env.TEST_MONGO_URL ?? ''));
  afterEach(() => disconnectMongo());

  const monitorConnection = (): Connection => {
    const { topology } = mongoose.connection.getClient() as unknown as Driver;
    const [server] = topology.s.servers.values();
    if (!server) throw new Error('no server');
    return server.monitor.connection;
  };
  const hello = (connection: Connection) => connection.command({ db: 'admin' }, { hello: 1 }, {});

  it('fails a command on a socket that was destroyed a moment ago, instead of waiting for ever', async () => {
    const connection = monitorConnection();
    connection.socket.destroy();
    const error = await hello(connection).catch((thrown) => thrown);
    expect(isOutageOfMongo(error)).to.equal(true);
  });

  it('fails a command whose socket is closed while it waits to be written', async () => {
    const connection = monitorConnection();
    connection.socket.write = () => {
      connection.socket.destroy();
      return false;
    };
    const error = await hello(connection).catch((thrown) => thrown);
    expect(isOutageOfMongo(error)).to.equal(true);
  });
});
