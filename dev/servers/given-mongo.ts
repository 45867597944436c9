import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { startMongo } from './mongo.ts';

/** The databases of one run on the server of TEST_MONGO_URL. */
export interface GivenMongo {
  /** The address of a new database. */
  url(name: string): string;
  /** Drops every database whose address `url` has returned, and those whose names start with theirs. */
  drop(): Promise<void>;
}

/**
 * The server in TEST_MONGO_URL, on which a run has databases of its own; undefined if the variable is not set. Throws if
 * the address is not one of a server without TLS, because the tests put a proxy in front of it.
 */
export function givenMongo(): GivenMongo | undefined {
  const { TEST_MONGO_URL } = process.env;
  if (!TEST_MONGO_URL) return undefined;
  if (!/^mongodb:\/\/[^/]+/.test(TEST_MONGO_URL) || /[?&](tls|ssl)=true/.test(TEST_MONGO_URL)) {
    throw new Error('TEST_MONGO_URL must start with mongodb:// and name a server without TLS');
  }
  const run = `rides_${randomBytes(4).toString('hex')}`;
  return {
    url: (name) => inDatabase(withAuthSource(TEST_MONGO_URL), `${run}_${name}`),
    async drop() {
      const client = await mongoose.mongo.MongoClient.connect(TEST_MONGO_URL);
      try {
        const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
        const own = databases.filter(({ name }) => name.startsWith(`${run}_`));
        await Promise.all(own.map(({ name }) => client.db(name).dropDatabase()));
      } finally {
        await client.close();
      }
    },
  };
}

/** The same address with another database. */
export const inDatabase = (url: string, name: string): string =>
  url.replace(/^(mongodb:\/\/[^/?]+)(\/[^?]*)?/, (_, servers) => `${servers}/${name}`);

/** Keeps the database of the user's account, which is the one in the address by default. */
function withAuthSource(url: string): string {
  const [, path = ''] = /^mongodb:\/\/[^/?]*@[^/?]+\/([^?]+)/.exec(url) ?? [];
  if (!path || url.includes('authSource=')) return url;
  return `${url}${url.includes('?') ? '&' : '?'}authSource=${path}`;
}

/** The version of the MongoDB at `url`, for the head of a run and its results. */
export async function versionOfMongo(url: string): Promise<string> {
  const client = await mongoose.mongo.MongoClient.connect(url);
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 });
    return `MongoDB ${version} (${process.env.TEST_MONGO_URL ? 'TEST_MONGO_URL' : 'embedded engine'})`;
  } finally {
    await client.close();
  }
}

/** The version of the MongoDB that a run uses: the one in TEST_MONGO_URL, or the embedded engine, which it starts for that. */
export async function usedMongo(): Promise<string> {
  if (process.env.TEST_MONGO_URL) return versionOfMongo(process.env.TEST_MONGO_URL);
  const dataDir = await mkdtemp(join(tmpdir(), 'rides-version-'));
  const engine = await startMongo({ dataDir });
  try {
    return await versionOfMongo(engine.url);
  } finally {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
