import { expect } from 'chai';
import mongoose from 'mongoose';
import { addressProblem } from '../../../shared/base/mongo/connect-mongo.ts';

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
