import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { readConfig } from '../../shared/base/config.ts';
import { findCaller } from '../../shared/keys/api-key.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { withDatabase } from './database.ts';
import type { StackEnv } from './stack-state.ts';

export type TestKey = { keyId: string; key: string; signingSecret: string; webhookUrl?: string };

/**
 * The stack's test key, which is the same at every start. MongoDB has only its hash, so the key is stored in the
 * stack's folder. A new key is created at the first start, and after the key was rotated or revoked.
 */
export async function testKey(env: StackEnv, dataDir: string): Promise<TestKey> {
  return withDatabase(env.MONGO_URL, async () => {
    const kept = await readIfValid(env, dataDir);
    if (kept) return kept;
    const { _id: accountId } = await accountOf(operatorEmail);
    const { keyId, key, signingSecret } = await createKey(readConfig(env), { accountId, name: 'dev', mode: 'test' });
    await fs.writeFile(fileOf(env, dataDir), JSON.stringify({ keyId, key }), { mode: 0o600 });
    return { keyId, key, signingSecret };
  });
}

/** The stored key with its current webhook URL and signing secret; undefined if it was rotated or revoked. */
export async function currentTestKey(env: StackEnv, dataDir: string): Promise<TestKey | undefined> {
  return withDatabase(env.MONGO_URL, () => readIfValid(env, dataDir));
}

async function readIfValid(env: StackEnv, dataDir: string): Promise<TestKey | undefined> {
  const kept = await fs
    .readFile(fileOf(env, dataDir), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  const caller = kept && (await findCaller(kept.key, Date.now()));
  return caller && { ...kept, ...(await deliverySettings(readConfig(env), caller.keyId)) };
}

/** Each database has its own file, since MONGO_URL may name another database at the next start. */
function fileOf(env: StackEnv, dataDir: string): string {
  const database = createHash('sha256').update(env.MONGO_URL).digest('hex').slice(0, 8);
  return path.join(dataDir, `test-key-${database}.json`);
}
