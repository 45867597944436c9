import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connection.ts';

/** Connects to the database for the duration of `work`. */
export async function withDatabase<T>(url: string, work: () => Promise<T>): Promise<T> {
  await connectMongo(url);
  try {
    return await work();
  } finally {
    await disconnectMongo();
  }
}
