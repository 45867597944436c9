import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { AccountModel, accountOf } from '../../shared/accounts/account.ts';
import { encrypt, type SecretsKeys, secretsKey } from '../../shared/base/encryption.ts';
import { ConfigError } from '../../shared/base/errors.ts';
import { connectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { encryptedWithMissingKeys, secretStores } from '../../shared/keys/secret-stores.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { openContext } from '../../shared/process/open-context.ts';
import { RideModel } from '../../shared/rides/ride.ts';
import { ownDatabase } from '../support/own-database.ts';
import { testConfig, testSettings } from '../support/service.ts';
import { serviceProcess } from '../support/service-process.ts';

const bytes = (byte: number) => Buffer.alloc(32, byte);
const [a, b, c] = [secretsKey(Buffer.alloc(32, 1)), secretsKey(Buffer.alloc(32, 2)), secretsKey(Buffer.alloc(32, 3))];
const setting = (...list: number[]) => list.map((byte) => bytes(byte).toString('base64')).join(',');

describe('the start of a process', () => {
  let database: Awaited<ReturnType<typeof ownDatabase>>;
  beforeEach(async () => {
    database = await ownDatabase();
  });
  afterEach(() => mongoose.disconnect());
  // Some of these tests leave it without an index.
  after(async () => (await ownDatabase()).drop());

  const settings = (...list: number[]) => ({ MONGO_URL: database.url, SECRETS_KEY: setting(...list) });

  /** `started`, or the one line of the ConfigError that refuses the start. */
  async function start(...list: number[]): Promise<string> {
    try {
      return await outcome(async () => {
        const ctx = await openContext(testConfig(settings(...list)), 'test');
        await ctx.close();
      }, 'started');
    } finally {
      // A refused start leaves nothing open either, so that a command ends.
      expect(mongoose.connection.readyState).to.equal(mongoose.ConnectionStates.disconnected);
      await connectMongo(database.url);
    }
  }
  const migrated = (...list: SecretsKeys) => outcome(() => migrate(list), 'migrated');

  async function outcome(work: () => Promise<void>, done: string): Promise<string> {
    try {
      await work();
      return done;
    } catch (error) {
      expect(error, String(error)).to.be.instanceOf(ConfigError);
      expect((error as Error).message).not.to.include('\n');
      return (error as Error).message;
    }
  }

  async function newKey(secretsKeys: SecretsKeys): Promise<string> {
    const { _id: accountId } = await accountOf('start@rides.example');
    const config = { ...testConfig(), secrets: { ...testConfig().secrets, keys: secretsKeys } };
    return (await createKey(config, { accountId, name: 'desk', mode: 'test' })).keyId;
  }
  const setSecret = (_id: string, signingSecret: string) => keys.updateOne({ _id }, { $set: { signingSecret } });
  it('a start before migrate has run is refused with one line that says to run it', async () => {
    await mongoose.connection.dropDatabase();
    expect(await start(1)).to.match(/^MongoDB lacks .+: run migrate /);
  });

  const indexes: [title: string, drop: () => Promise<unknown>][] = [
    ['an account by its e-mail address', () => AccountModel.collection.dropIndex('email_1')],
    ['a key by its hash', () => keys.dropIndex('hash_1')],
    ['a ride by its track token', () => RideModel.collection.dropIndex('trackToken_if_any')],
    ['a ride by its Idempotency-Key', () => RideModel.collection.dropIndex('keyId_1_idempotency.key_1')],
  ];
  for (const [title, drop] of indexes) {
    it(`a start without the unique index of ${title} is refused with one line that says to run migrate`, async () => {
      await migrate([a]);
      await drop();
      expect(await start(1)).to.match(/^MongoDB lacks the index of .+: run migrate /);
      expect(await migrated(a)).to.equal('migrated');
      expect(await start(1)).to.equal('started');
    });
  }

  it('a start is refused if a required unique index exists but is not unique', async () => {
    await migrate([a]);
    await keys.dropIndex('hash_1');
    await keys.createIndex({ hash: 1 });
    expect(await start(1)).to.include('the index of hash on keys');
    await keys.dropIndex('hash_1');
  });

  it('a start without the check value is refused with one line that says to run migrate', async () => {
    await migrate([a]);
    await mongoose.connection.collection('checks').deleteMany({});
    expect(await start(1)).to.match(/^MongoDB lacks the check value of SECRETS_KEY: run migrate /);
  });

  it('a start is refused if SECRETS_KEY does not decrypt the check value, even before any key exists', async () => {
    await migrate([a]);
    expect(await start(2)).to.match(/^Setting SECRETS_KEY does not decrypt the check value/);
    expect(await start(2, 3))
      .to.include('SECRETS_KEY')
      .and.not.include(setting(2));
    expect(await start(2, 1)).to.equal('started');
    expect(await start(1)).to.equal('started');
  });

  it('a start is refused only while a signing secret names a key that SECRETS_KEY does not list', async () => {
    await migrate([a]);
    const keyId = await newKey([a]);
    for (const other of [b, c]) {
      await setSecret(keyId, encrypt('whsec_x', [other], keyId));
      expect(await start(1)).to.match(
        /^Setting SECRETS_KEY does not decrypt the signing secret of key_.+ lacks the key /,
      );
      expect(await start(1, 2, 3)).to.equal('started');
    }
  });

  it('a start succeeds with one damaged signing secret', async () => {
    await migrate([a]);
    const [damaged] = [await newKey([a]), await newKey([a])];
    for (const text of [`key:${a.id}:${'A'.repeat(60)}`, 'A'.repeat(60), 'nonsense', '']) {
      await setSecret(damaged, text);
      expect(await start(1), text).to.equal('started');
    }
  });

  it('a start uses an index to find signing secrets whose key is not in SECRETS_KEY', async () => {
    await migrate([a]);
    for (let made = 0; made < 20; made++) await newKey(made % 2 ? [a] : [b]);
    for (const store of secretStores) {
      const { executionStats } = await store.collection
        .find(encryptedWithMissingKeys(store, [b, a]))
        .limit(1)
        .explain('executionStats');
      expect(executionStats, store.what).to.include({ nReturned: 0, totalDocsExamined: 0 });
      expect(executionStats.totalKeysExamined, store.what).to.be.at.most(6);
    }
  });

  it('a refused start of the API or a worker prints only one line', async () => {
    await migrate([a]);
    const logDir = fs.mkdtempSync(path.join(os.tmpdir(), 'rides-test-'));
    const env = testSettings({ ...settings(2), LOG_LEVEL: 'info' });
    const refusals = [
      serviceProcess({ name: 'api', script: 'api/main', env, output: { logDir } }),
      serviceProcess({ name: 'worker', script: 'workers/main', args: ['bidding'], env, output: { logDir } }),
    ].map(async (refused) => {
      expect(await refused.start().catch((error) => error)).to.be.an('error');
      expect(await refused.ended()).to.equal('code 1');
      const printed = fs.readFileSync(path.join(logDir, `${refused.name}.log`), 'utf8');
      expect(printed).to.match(/^(api|worker): Setting SECRETS_KEY does not decrypt [^\n]+\n$/);
    });
    await Promise.all(refusals);
    fs.rmSync(logDir, { recursive: true });
  });

  it('a process that starts with an unknown setting like a known one warns of its name, and never logs its value', async () => {
    await migrate([a]);
    const logDir = fs.mkdtempSync(path.join(os.tmpdir(), 'rides-test-'));
    const env = {
      ...testSettings({ ...settings(1), LOG_LEVEL: 'info' }),
      MONGODB_URL: 'mongodb://user:CANARY@db/rides',
    };
    const worker = serviceProcess({ name: 'worker', script: 'workers/main', args: ['mail'], env, output: { logDir } });
    await worker.start();
    await worker.stop();
    const log = fs.readFileSync(path.join(logDir, 'worker.log'), 'utf8');
    fs.rmSync(logDir, { recursive: true });
    const [line = '{}'] = log.split('\n').filter((each) => each.includes('unknown setting'));
    expect(JSON.parse(line)).to.include({ level: 40, setting: 'MONGODB_URL', known: 'MONGO_URL' });
    expect(log).not.to.include('CANARY');
  });

  describe('after migrate', () => {
    it('a start accepts only the SECRETS_KEY of the first migrate', async () => {
      expect(await migrated(a)).to.equal('migrated');
      expect(await migrated(a)).to.equal('migrated');
      expect(await migrated(b)).to.include('SECRETS_KEY');
      expect(await migrated(b, a)).to.equal('migrated');
      expect(await start(2), 'migrate does not move the check value to another key').to.include('SECRETS_KEY');
    });

    it('a start and migrate are refused if SECRETS_KEY lacks the key of a stored signing secret', async () => {
      await migrate([a]);
      await newKey([a]);
      await mongoose.connection.collection('checks').deleteMany({});
      expect(await migrated(b)).to.match(/^Setting SECRETS_KEY does not decrypt the signing secret of key_/);
      expect(await start(2)).to.include('run migrate');
      expect(await migrated(b, a)).to.equal('migrated');
      // A secret still uses the older key, because rekey has not run.
      expect(await start(2)).to.include('SECRETS_KEY');
      expect(await start(2, 1)).to.equal('started');
    });

    it('a start and migrate succeed with one damaged secret of several', async () => {
      await migrate([a]);
      const [damaged] = [await newKey([a]), await newKey([a])];
      await setSecret(damaged, 'nonsense');
      await mongoose.connection.collection('checks').deleteMany({});
      expect(await migrated(a)).to.equal('migrated');
    });
  });
});
