import type { Say } from './debian-packages.ts';
import { needsNewerLibc, newerLibc } from './engine-command.ts';
import { redisCommand } from './redis-command.ts';

/**
 * Fetches what the servers of this machine need and is not here yet, and tells `say` what that is; nothing is fetched after
 * it. A server that the environment names needs nothing.
 */
export async function prepareServers(say: Say): Promise<void> {
  if (!process.env.MONGO_URL && needsNewerLibc()) await newerLibc(say);
  if (!process.env.REDIS_URL) await redisCommand(say);
}
