import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { readConfig } from '../../shared/config.ts';
import { findCaller } from '../../shared/keys/api-key.ts';
import { createKey, deliverySettings } from '../../shared/keys/manage-keys.ts';
import { withDatabase } from './database.ts';
import type { StackEnv } from './stack.ts';

export type TestKey = { keyId: string; key: string; signingSecret: string; webhookUrl?: string };

/**
 * The stack's own test key, the same at every start: MongoDB has only its hash, so it is kept in the stack's folder. A new
 * one is made where there is none yet, or where somebody has rotated or revoked it.
 */
export async function testKey(env: StackEnv, dataDir: string): Promise<TestKey> {
  return withDatabase(env.MONGO_URL, async () => {
    const kept = await validKept(env, dataDir);
    if (kept) return kept;
    const { _id: accountId } = await accountOf(operatorEmail);
    const { keyId, key, signingSecret } = await createKey(readConfig(env), { accountId, name: 'dev', mode: 'test' });
    await fs.writeFile(fileOf(env, dataDir), JSON.stringify({ keyId, key }), { mode: 0o600 });
    return { keyId, key, signingSecret };
  });
}

/** The kept key with its present webhook URL and signing secret; undefined where it is not valid any more. */
export async function currentTestKey(env: StackEnv, dataDir: string): Promise<TestKey | undefined> {
  return withDatabase(env.MONGO_URL, () => validKept(env, dataDir));
}

async function validKept(env: StackEnv, dataDir: string): Promise<TestKey | undefined> {
  const kept = await fs
    .readFile(fileOf(env, dataDir), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  const caller = kept && (await findCaller(kept.key, Date.now()));
  return caller && { ...kept, ...(await deliverySettings(readConfig(env), caller.keyId)) };
}

/** Each database has a key of its own: MONGO_URL may name another one at the next start. */
function fileOf(env: StackEnv, dataDir: string): string {
  const database = createHash('sha256').update(env.MONGO_URL).digest('hex').slice(0, 8);
  return path.join(dataDir, `test-key-${database}.json`);
}
