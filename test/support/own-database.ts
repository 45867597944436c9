import mongoose from 'mongoose';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connection.ts';

/** Connects to an empty database on the test run's server, for tests that must not see other tests' data. */
export async function ownDatabase(name: string): Promise<{ url: string; drop(): Promise<void> }> {
  const url = (process.env.TEST_MONGO_URL ?? '').replace('/rides?', `/${name}?`);
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
