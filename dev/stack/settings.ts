import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../shared/base/config.ts';
import type { SecretsKeys } from '../../shared/base/encryption.ts';
import { givenServers } from './given-servers.ts';
import { stacksDir } from './stack-state.ts';

export type StackSettings = NodeJS.ProcessEnv & { SECRETS_KEY: string; SHUTDOWN_GRACE_MS: string };

/** The settings of a stack's services, without the URLs of its servers. Throws ConfigError for a wrong setting. */
export async function stackSettings(
  dataDir: string,
  more: NodeJS.ProcessEnv,
): Promise<{ settings: StackSettings; secretsKeys: SecretsKeys }> {
  const settings = {
    ...process.env,
    ...more,
    SERVICE_ENV: 'development',
    SECRETS_KEY: process.env.SECRETS_KEY || (await keptSecretsKey(givenServers().mongo ? stacksDir : dataDir)),
    // Seven processes cannot share a port.
    ...(process.env.OPS_PORT && { OPS_PORT: '0' }),
    // A short grace: a developer need not wait for an attempt to a receiver that hangs.
    SHUTDOWN_GRACE_MS: process.env.SHUTDOWN_GRACE_MS || '3000',
  };
  const { mongo, redis } = givenServers();
  const servers = { MONGO_URL: mongo || 'mongodb://own/rides', REDIS_URL: redis || 'redis://own' };
  const { secrets } = readConfig({ ...settings, ...servers });
  return { settings, secretsKeys: secrets.keys };
}

/** The host at which this machine reaches an API that listens on `host`. */
export function reachedAt(host = ''): string {
  if (host === '' || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * The key that encrypts signing secrets is kept with the data that it encrypts. All stacks of this checkout share one key
 * for databases of MONGO_URL, because such a database refuses a start with another key.
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
