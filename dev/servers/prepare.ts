import type { Say } from './debian-packages.ts';
import { needsNewerLibc, newerLibc } from './engine-command.ts';
import { redisCommand } from './redis-command.ts';

/**
 * Fetches the missing programs and libraries for the local servers, and says which. Afterwards nothing more is fetched. A
 * server given by MONGO_URL or REDIS_URL needs nothing.
 */
export async function prepareServers(say: Say): Promise<void> {
  if (!process.env.MONGO_URL && needsNewerLibc()) await newerLibc(say);
  if (!process.env.REDIS_URL) await redisCommand(say);
}
