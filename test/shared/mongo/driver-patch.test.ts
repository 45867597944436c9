import type { Socket } from 'node:net';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { timeLimit } from '../../../shared/base/mongo/durability.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';

/** The driver's internal monitoring connections. */
interface Driver {
  topology: { s: { servers: Map<string, { monitor: { connection: Connection } }> } };
}
interface Connection {
  socket: Socket;
  command(namespace: { db: string }, command: object, options: object): Promise<unknown>;
}

describe('the patched MongoDB driver', () => {
  beforeEach(() => connectMongo(process.env.TEST_RUN_MONGO_URL ?? ''));
  afterEach(() => disconnectMongo());

  const monitorConnection = (): Connection => {
    const { topology } = mongoose.connection.getClient() as unknown as Driver;
    const [server] = topology.s.servers.values();
    if (!server) throw new Error('no server');
    return server.monitor.connection;
  };
  const hello = (connection: Connection) => connection.command({ db: 'admin' }, { hello: 1 }, {});

  it('the patched driver rejects a command on a socket that was just destroyed, instead of waiting forever', async () => {
    const connection = monitorConnection();
    connection.socket.destroy();
    const error = await hello(connection).catch((thrown) => thrown);
    expect(isOutageOfMongo(error)).to.equal(true);
  });

  it('the patched driver rejects a command whose socket closes while the command waits to be written', async () => {
    const connection = monitorConnection();
    connection.socket.write = () => {
      connection.socket.destroy();
      return false;
    };
    const error = await hello(connection).catch((thrown) => thrown);
    expect(isOutageOfMongo(error)).to.equal(true);
  });
});

describe('the connection to MongoDB', () => {
  const url = process.env.TEST_RUN_MONGO_URL ?? '';
  afterEach(() => disconnectMongo());

  for (const timeLimits of [true, false]) {
    it(`an open connection ${timeLimits ? 'keeps' : 'gets no'} time limits when a process connects again`, async () => {
      await connectMongo(url, { timeLimits });
      await connectMongo(url, { timeLimits: !timeLimits });
      expect(timeLimit()).to.deep.equal(timeLimits ? { maxTimeMS: 1_000 } : {});
    });
  }
});
