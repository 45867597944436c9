import { connectMongo, disconnectMongo } from '../../shared/mongo/connection.ts';

/** Does something in a database for which this process keeps no connection. */
export async function withDatabase<T>(url: string, work: () => Promise<T>): Promise<T> {
  await connectMongo(url);
  try {
    return await work();
  } finally {
    await disconnectMongo();
  }
}
