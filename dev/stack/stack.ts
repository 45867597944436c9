import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { hostInUrl, readConfig } from '../../shared/config.ts';
import { migrate } from '../../shared/migrate.ts';
import { poolNames } from '../../shared/queues.ts';
import { startMongo } from '../servers/mongo.ts';
import { startRedis } from '../servers/redis.ts';
import type { RunningProcess } from '../servers/running-server.ts';
import { withDatabase } from './database.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { startService } from './service.ts';
import { stacksDir } from './stack-state.ts';

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
  /** Is told what the named service has printed. */
  onLine: (name: string, line: string) => void;
};

export type Stack = {
  url: string;
  /** What the services run with. */
  env: NodeJS.ProcessEnv & { MONGO_URL: string; REDIS_URL: string; SECRETS_KEY: string };
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
    const settings = await settingsOf(options);
    // A wrong setting is said before anything is started, and once.
    const { MONGO_URL: given = '', REDIS_URL: givenRedis = '' } = process.env;
    const { secrets, host } = readConfig({
      ...settings,
      MONGO_URL: given || 'mongodb://here',
      REDIS_URL: givenRedis || 'redis://here',
    });
    // One after the other: the engine locks its data, so a second stack on the same folder comes to no harm to Redis.
    const MONGO_URL = await mongoUrl(options, keep);
    const REDIS_URL = await redisUrl(options, keep);
    servers = started.length;
    const env = { ...settings, MONGO_URL, REDIS_URL };
    await withDatabase(MONGO_URL, () => migrate(secrets.keys));
    await allStarted([startApi(options, env, keep), ...poolNames.map((pool) => startPool(pool, options, env, keep))]);
    const loopback = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
    return { url: `http://${hostInUrl(loopback)}:${options.port}`, env, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = <T extends RunningProcess>(name: string, start: () => Promise<T>) => Promise<T>;

async function mongoUrl({ dataDir }: StackOptions, keep: Keep): Promise<string> {
  if (process.env.MONGO_URL) return process.env.MONGO_URL;
  return (await keep('MongoDB', () => startMongo({ dataDir: path.join(dataDir, 'mongo') }))).url;
}

async function redisUrl({ dataDir, keepQueues }: StackOptions, keep: Keep): Promise<string> {
  if (process.env.REDIS_URL) return process.env.REDIS_URL;
  let port: number | undefined;
  const start = async () => {
    const server = await startRedis({ dataDir: path.join(dataDir, 'redis'), appendonly: keepQueues, port });
    // When it is started again, its clients look for it where it was.
    port = Number(new URL(server.url).port);
    return server;
  };
  return (await keep('Redis', start)).url;
}

async function settingsOf({ port, dataDir, settings }: StackOptions) {
  const SECRETS_KEY = process.env.SECRETS_KEY || (await keptSecretsKey(process.env.MONGO_URL ? stacksDir : dataDir));
  return { ...process.env, ...settings, SERVICE_ENV: 'development', PORT: String(port), SECRETS_KEY };
}

/**
 * The key that signing secrets are encrypted with stays with the data that it encrypts. The stacks of this checkout
 * share one for a database of MONGO_URL: a start with another key is refused there.
 */
async function keptSecretsKey(folder: string): Promise<string> {
  const file = path.join(folder, 'secrets-key');
  try {
    return await fs.readFile(file, 'utf8');
  } catch {
    const key = randomBytes(32).toString('base64');
    await fs.mkdir(folder, { recursive: true });
    await fs.writeFile(file, key, { mode: 0o600, flag: 'wx' });
    return key;
  }
}

async function startApi({ onLine }: StackOptions, env: NodeJS.ProcessEnv, keep: Keep): Promise<void> {
  const script = path.join(root, 'dev/api.ts');
  await keep('api', () => startService({ name: 'api', script, env, onLine: (line) => onLine('api', line) }));
}

async function startPool(pool: string, { onLine }: StackOptions, env: NodeJS.ProcessEnv, keep: Keep): Promise<void> {
  const script = path.join(root, 'workers/main.ts');
  await keep(pool, () => startService({ name: pool, script, args: [pool], env, onLine: (line) => onLine(pool, line) }));
}

/** Like Promise.all, but it rejects only when all have settled: so that what did start is known, and can be stopped. */
async function allStarted(starting: Promise<void>[]): Promise<void> {
  await Promise.allSettled(starting);
  await Promise.all(starting);
}
