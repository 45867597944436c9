import mongoose from 'mongoose';
import { inDatabase } from '../../dev/servers/given-mongo.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';

const nameOf = (url: string): string => /^mongodb:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? '';

/**
 * Connects to a database without documents on the test run's server, for tests that must not see other tests' data. Each
 * call empties the same database. Its indexes stay, because creating all of them takes longer than most tests.
 */
export async function ownDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const run = process.env.TEST_RUN_MONGO_URL ?? '';
  // On a server that other runs use too, a name that begins with this run's is dropped with it.
  const url = inDatabase(run, process.env.TEST_MONGO_URL ? `${nameOf(run)}_own` : 'own');
  await connectMongo(url, { timeLimits: false });
  for (const collection of await mongoose.connection.listCollections()) {
    await mongoose.connection.collection(collection.name).deleteMany({});
  }
  return {
    url,
    async drop() {
      await mongoose.connection.dropDatabase();
      await disconnectMongo();
    },
  };
}
