import mongoose from 'mongoose';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connection.ts';

/** An empty database on the run's server, connected, for tests that must not see the data of others. */
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
