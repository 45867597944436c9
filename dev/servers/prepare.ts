import type { Say } from './debian-packages.ts';
import { needsNewerLibc, newerLibc } from './engine-command.ts';
import { faketimeLibrary } from './faketime.ts';
import { redisCommand } from './redis-command.ts';

/**
 * Fetches the missing programs and libraries for the local servers, and says which. Afterwards nothing more is fetched. A
 * server given by MONGO_URL or REDIS_URL needs nothing.
 */
export async function prepareServers(say: Say): Promise<void> {
  if (!process.env.MONGO_URL && needsNewerLibc()) await newerLibc(say);
  if (!process.env.REDIS_URL) await redisCommand(say);
}

/** Fetches, in addition, what only tests need. Without it, the tests that set MongoDB's clock fail and say so. */
export async function prepareTests(say: Say): Promise<void> {
  if (process.platform !== 'linux') return;
  await faketimeLibrary(say).catch((error: Error) => say(`npm test needs one library more: ${error.message}`));
}
