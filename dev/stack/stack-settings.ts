import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../shared/base/config.ts';
import type { SecretsKeys } from '../../shared/base/encryption.ts';
import type { Say } from '../servers/debian-packages.ts';
import { needsNewerLibc, newerLibc } from '../servers/mongo.ts';
import { redisCommand } from '../servers/redis-server.ts';
import { type StackSettings, stacksDir } from './stack-state.ts';

/** The settings of a stack's services, without the URLs of its servers. Throws ConfigError for an invalid setting. */
export async function stackSettings(
  dataDir: string,
  more: NodeJS.ProcessEnv,
): Promise<{ settings: StackSettings; secretsKeys: SecretsKeys }> {
  const settings = {
    ...process.env,
    ...more,
    SERVICE_ENV: 'development',
    SECRETS_KEY: process.env.SECRETS_KEY || (await keptSecretsKey(givenServers().mongo ? stacksDir : dataDir)),
    // Any free port, because the processes cannot share one.
    OPS_PORT: '0',
    // A short grace period, so that Ctrl-C does not wait for an attempt to a hanging receiver.
    SHUTDOWN_GRACE_MS: process.env.SHUTDOWN_GRACE_MS || '3000',
  };
  const { mongo, redis } = givenServers();
  const servers = { MONGO_URL: mongo || 'mongodb://own/rides', REDIS_URL: redis || 'redis://own' };
  const { secrets } = readConfig({ ...settings, ...servers });
  return { settings, secretsKeys: secrets.keys };
}

/** The host name for connecting to an API that listens on `host`. */
export function reachableHost(host = ''): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * The key that encrypts signing secrets, stored with the data that it encrypts. For databases of MONGO_URL, all stacks
 * of this checkout share one key, because such a database refuses a start with another key.
 */
async function keptSecretsKey(folder: string): Promise<string> {
  const file = path.join(folder, 'secrets-key');
  try {
    return await fs.readFile(file, 'utf8');
  } catch {
    const key = randomBytes(32).toString('base64');
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await fs.writeFile(file, key, { mode: 0o600, flag: 'wx' });
    return key;
  }
}

/** The servers of MONGO_URL and REDIS_URL, which replace the stack's own; empty if unset. */
export function givenServers() {
  const { MONGO_URL = '', REDIS_URL = '' } = process.env;
  return {
    mongo: MONGO_URL,
    redis: REDIS_URL,
    /** The addresses of both servers for display, without user and password. */
    named: {
      mongo: MONGO_URL && `${hostsOf(MONGO_URL)} (MONGO_URL)`,
      redis: REDIS_URL && `${hostsOf(REDIS_URL)} (REDIS_URL)`,
    },
  };
}

/**
 * Throws if no Redis answers at REDIS_URL, because the services would start and wait for it. Does not check a cluster
 * or sentinels.
 */
export async function checkRedis(): Promise<void> {
  const url = givenServers().redis;
  if (!/^rediss?:/.test(url)) return;
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 2_000, retryStrategy: () => null });
  let problem: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => {
    problem = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    const { code, message } = problem ?? (error as NodeJS.ErrnoException);
    throw new Error(`REDIS_URL: no Redis answers at ${hostsOf(url)} (${code ?? message})`, { cause: error });
  } finally {
    redis.disconnect();
  }
}

/** The hosts of a URL, without its user and password. */
export const hostsOf = (url: string): string =>
  url
    .replace(/[?].*$/, '')
    .replace(/^[\w+-]+:\/\/(.*@)?/, '')
    .split('/')[0] ?? '';

/**
 * Downloads the missing programs and libraries for the local servers, and reports each one. Later starts download
 * nothing. Nothing is downloaded for a server in MONGO_URL or REDIS_URL.
 */
export async function prepareServers(say: Say): Promise<void> {
  if (!process.env.MONGO_URL && needsNewerLibc()) await newerLibc(say);
  if (!process.env.REDIS_URL) await redisCommand(say);
}
