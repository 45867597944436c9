import fs from 'node:fs/promises';
import path from 'node:path';
import { migrate } from '../../shared/migrate.ts';
import { poolNames } from '../../shared/queues.ts';
import { startMongo } from '../servers/mongo.ts';
import { prepareServers } from '../servers/prepare.ts';
import { startRedis } from '../servers/redis.ts';
import type { RunningProcess } from '../servers/running-server.ts';
import { removeAbandonedFolders } from '../servers/temporary-folder.ts';
import { withDatabase } from './database.ts';
import { checkRedis, givenServers } from './given-servers.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { startService } from './service.ts';
import { reachedAt, type StackSettings, stackSettings } from './settings.ts';

const root = path.join(import.meta.dirname, '..', '..');

export type StackOptions = {
  port: number;
  /** Holds all that the stack keeps. */
  dataDir: string;
  /** Whether Redis keeps its data over a restart, as MongoDB always does. */
  keepQueues: boolean;
  /** Settings of the services, beyond those of this process's environment. */
  settings?: NodeJS.ProcessEnv;
  /** Is told, in a line, what happens to the stack itself. */
  say: (line: string) => void;
  /** Is told what is going on until it is told the next. */
  progress: (text: string) => void;
  /** Is told what the named service has printed. */
  onLine: (name: string, line: string) => void;
};

export type StackEnv = StackSettings & { MONGO_URL: string; REDIS_URL: string };

export type Stack = {
  url: string;
  /** What the services run with. */
  env: StackEnv;
  /** Where a server is that the environment names; empty for one of the stack's own. */
  servers: { mongo: string; redis: string };
  stop(): Promise<void>;
};

/**
 * Starts MongoDB and Redis, unless the environment names them, then the API and a process for each worker pool. Each is
 * started again when it dies. Rejects, with nothing left running, when one cannot be started.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const started: Kept<RunningProcess>[] = [];
  const keep = async <T extends RunningProcess>(name: string, start: () => Promise<T>): Promise<T> => {
    const kept = await keepRunning(name, start, options.say);
    started.push(kept);
    return kept.first;
  };
  // The servers were started first, and are what all others need to end cleanly.
  let servers = 0;
  const stop = async () => {
    await Promise.all(started.slice(servers).map((kept) => kept.stop()));
    await Promise.all(started.slice(0, servers).map((kept) => kept.stop()));
  };

  try {
    await fs.mkdir(options.dataDir, { recursive: true, mode: 0o700 });
    // A wrong setting is said before anything is started, and once.
    const given = { ...options.settings, PORT: String(options.port) };
    const { settings, secretsKeys } = await stackSettings(options.dataDir, given);
    await removeAbandonedFolders();
    await checkRedis();
    await prepareServers((line) => {
      options.say(line);
      options.progress(line);
    });
    // One after the other: the engine locks its data, so a second stack on the same folder comes to no harm to Redis.
    const MONGO_URL = await mongoUrl(options, keep);
    await withDatabase(MONGO_URL, () => migrate(secretsKeys));
    const REDIS_URL = await redisUrl(options, keep);
    servers = started.length;
    const env = { ...settings, MONGO_URL, REDIS_URL };
    options.progress(`starting the API and ${poolNames.length} worker pools`);
    await allStarted([startApi(options, env, keep), ...poolNames.map((pool) => startPool(pool, options, env, keep))]);
    const url = `http://${reachedAt(process.env.HOST)}:${options.port}`;
    return { url, env, servers: givenServers().named, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = <T extends RunningProcess>(name: string, start: () => Promise<T>) => Promise<T>;

async function mongoUrl({ dataDir, progress }: StackOptions, keep: Keep): Promise<string> {
  const { mongo, named } = givenServers();
  progress(mongo ? `connecting to MongoDB at ${named.mongo}` : 'starting MongoDB');
  return mongo || (await keep('MongoDB', () => startMongo({ dataDir: path.join(dataDir, 'mongo') }))).url;
}

async function redisUrl({ dataDir, keepQueues, progress }: StackOptions, keep: Keep): Promise<string> {
  const { redis } = givenServers();
  if (redis) return redis;
  progress('starting Redis');
  let port: number | undefined;
  const start = async () => {
    const server = await startRedis({ dataDir: path.join(dataDir, 'redis'), appendonly: keepQueues, port });
    // When it is started again, its clients look for it where it was.
    port = Number(new URL(server.url).port);
    return server;
  };
  return (await keep('Redis', start)).url;
}

async function startApi({ onLine }: StackOptions, env: StackEnv, keep: Keep): Promise<void> {
  const script = path.join(root, 'dev/api.ts');
  await keep('api', () => startService({ name: 'api', script, env, onLine: (line) => onLine('api', line) }));
}

async function startPool(pool: string, { onLine }: StackOptions, env: StackEnv, keep: Keep): Promise<void> {
  const script = path.join(root, 'workers/main.ts');
  await keep(pool, () => startService({ name: pool, script, args: [pool], env, onLine: (line) => onLine(pool, line) }));
}

/** Like Promise.all, but it rejects only when all have settled: so that what did start is known, and can be stopped. */
async function allStarted(starting: Promise<void>[]): Promise<void> {
  await Promise.allSettled(starting);
  await Promise.all(starting);
}
