import type { Socket } from 'node:net';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { addressProblem, connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
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
  afterEach(() => disconnectMongo());

  for (const timeLimits of [true, false]) {
    it(`an open connection ${timeLimits ? 'keeps' : 'gets no'} time limits when a process connects again`, async () => {
      const url = process.env.TEST_RUN_MONGO_URL ?? '';
      await connectMongo(url, { timeLimits });
      await connectMongo(url, { timeLimits: !timeLimits });
      expect(timeLimit()).to.deep.equal(timeLimits ? { maxTimeMS: 1_000 } : {});
    });
  }
});

describe('a MONGO_URL that cannot be connected to', () => {
  async function problemOf(url: string): Promise<string> {
    try {
      const client = new mongoose.mongo.MongoClient(url, { serverSelectionTimeoutMS: 50 });
      await client
        .db('admin')
        .command({ hello: 1 })
        .finally(() => client.close());
      return 'none';
    } catch (error) {
      return addressProblem(error);
    }
  }

  it('an unreachable MONGO_URL is reported with the tried hosts and ports, and no other part of the URL', async () => {
    const problem = await problemOf('mongodb://uSeR:pAsS@127.0.0.1:1,127.0.0.1:2/dAtA?appName=qUeRy');
    expect(problem).to.equal(': no MongoDB answers at 127.0.0.1:1 (ECONNREFUSED), 127.0.0.1:2 (ECONNREFUSED)');
  });

  for (const url of [
    'mongodb://uSeR:p@sS@127.0.0.1:1/rides',
    'mongodb://uSeR:p/sS@127.0.0.1:1/rides',
    'mongodb:///x',
  ]) {
    it(`an invalid connection string is reported without any part of it: ${url}`, async () => {
      expect(await problemOf(url)).to.equal(' is not a valid connection string');
    });
  }

  it('a server that does not belong to the replica set is reported', async () => {
    const url = new URL(process.env.TEST_RUN_MONGO_URL ?? '');
    url.search = '?replicaSet=another';
    expect(await problemOf(url.href)).to.match(/^: no MongoDB of this replica set was found$/);
  });
});
