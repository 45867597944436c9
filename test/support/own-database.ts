import mongoose from 'mongoose';
import { inDatabase } from '../../dev/servers/given-mongo.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connection.ts';

const nameOf = (url: string): string => /^mongodb:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? '';

/** Connects to an empty database on the test run's server, for tests that must not see other tests' data. */
export async function ownDatabase(name: string): Promise<{ url: string; drop(): Promise<void> }> {
  const run = process.env.TEST_RUN_MONGO_URL ?? '';
  // On a server that other runs use too, a name that begins with this run's is dropped with it.
  const url = inDatabase(run, process.env.TEST_MONGO_URL ? `${nameOf(run)}_${name}` : name);
  await connectMongo(url);
  await mongoose.connection.dropDatabase();
  return {
    url,
    async drop() {
      await mongoose.connection.dropDatabase();
      await disconnectMongo();
    },
  };
}
