import { expect } from 'chai';
import Mocha from 'mocha';
import mongoose from 'mongoose';
import { givenMongo, inDatabase } from '../../dev/servers/given-mongo.ts';
import { scaled, scaleLimits } from '../support/machine-speed.ts';
import { serverOf, startMongoProxy, throughProxy } from '../support/mongo-proxy.ts';

describe('a MongoDB in TEST_MONGO_URL', () => {
  const { TEST_MONGO_URL } = process.env;
  afterEach(() => {
    if (TEST_MONGO_URL === undefined) delete process.env.TEST_MONGO_URL;
    else process.env.TEST_MONGO_URL = TEST_MONGO_URL;
  });

  it('a run has databases of its own, and drops no others', async () => {
    const proxy = await startMongoProxy(process.env.TEST_RUN_MONGO_URL ?? '');
    const client = await mongoose.mongo.MongoClient.connect(proxy.url);
    try {
      process.env.TEST_MONGO_URL = proxy.url;
      const [own, other] = [givenMongo(), givenMongo()];
      const urls = [own?.url('0'), own?.url('1'), other?.url('0')] as string[];
      const names = urls.map((url) => /\/([^/?]+)\?/.exec(url)?.[1] ?? '');
      expect(new Set(names)).to.have.property('size', 3);
      for (const name of names) await client.db(name).collection('rides').insertOne({});
      await own?.drop();
      const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
      expect(databases.map(({ name }) => name).filter((name) => names.includes(name))).to.deep.equal([names[2]]);
      await other?.drop();
    } finally {
      await client.close();
      await proxy.close();
    }
  });

  for (const url of [
    'mongodb+srv://db.example',
    'mongodb://db.example/?tls=true',
    'mongodb://db.example/?ssl=true',
    'db:1',
  ]) {
    it(`an address that a proxy cannot stand in front of is refused: ${url}`, () => {
      process.env.TEST_MONGO_URL = url;
      expect(givenMongo).to.throw(/^TEST_MONGO_URL must start with mongodb:\/\/ and name a server without TLS$/);
    });
  }

  it('a user keeps the database in which it is defined, also through a proxy, which leads to the first server', () => {
    process.env.TEST_MONGO_URL = 'mongodb://anna:pw@a.example:1,b.example:2/users?replicaSet=rs';
    const url = givenMongo()?.url('0') ?? '';
    expect(url).to.match(/^mongodb:\/\/anna:pw@a\.example:1,b\.example:2\/rides_[0-9a-f]{8}_0\?/);
    expect(serverOf(url)).to.deep.equal({ host: 'a.example', port: 1 });
    expect(throughProxy(inDatabase(url, 'x'), '127.0.0.1:3')).to.equal(
      'mongodb://anna:pw@127.0.0.1:3/x?authSource=users&directConnection=true',
    );
  });
});

describe('time limits of tests', () => {
  it('the limits of all tests and hooks are scaled, except where there is none', () => {
    const root = new Mocha.Suite('root', new Mocha.Context());
    const inner = Mocha.Suite.create(root, 'inner');
    inner.timeout(1_000);
    inner.beforeEach(() => {});
    inner.addTest(new Mocha.Test('with a limit', () => {}));
    inner.addTest(new Mocha.Test('without a limit', () => {}));
    inner.tests[1]?.timeout(0);
    scaleLimits(root);
    const [hook] = (inner as unknown as { _beforeEach: Mocha.Hook[] })._beforeEach;
    const limits = [hook, ...inner.tests].map((runnable) => runnable?.timeout());
    expect(limits).to.deep.equal([scaled(1_000), scaled(1_000), 0]);
    expect(scaled(1_000)).to.be.above(1_000);
  });
});
