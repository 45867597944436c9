import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';

/**
 * Connects to the database for the duration of `work`. Its operations have no time limit: unlike a request, a command may
 * take long on a busy machine.
 */
export async function withDatabase<T>(url: string, work: () => Promise<T>): Promise<T> {
  await connectMongo(url, { timeLimits: false });
  try {
    return await work();
  } finally {
    await disconnectMongo();
  }
}
