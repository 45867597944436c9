import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { accountOf } from '../../shared/accounts/account.ts';
import { readConfig } from '../../shared/base/config.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import { findCaller } from '../../shared/keys/find-caller.ts';
import { createKey, setWebhookUrl } from '../../shared/keys/manage-keys.ts';
import { withDatabase } from './database.ts';
import { devEmail, hasLocalPages, receiverPath } from './local-pages.ts';
import type { StackEnv } from './stack-state.ts';

export type TestKey = { keyId: string; key: string; signingSecret: string; webhookUrl?: string };

/**
 * The stack's test key, which is the same at every start. MongoDB has only its hash, so the key is stored in the
 * stack's folder. The key belongs to an account that can sign in, so the dashboard shows its rides. A new key is created
 * at the first start, and after the key was rotated or revoked. Its events go to the stack's receiver at `url`.
 */
export async function testKey(env: StackEnv, dataDir: string, url: string): Promise<TestKey> {
  return withDatabase(env.MONGO_URL, async () => {
    const { _id: accountId } = await accountOf(devEmail);
    const kept = await readIfValid(env, dataDir);
    if (kept) return kept;
    const config = readConfig(env);
    const { keyId, key, signingSecret } = await createKey(config, { accountId, name: 'dev', mode: 'test' });
    const webhookUrl = hasLocalPages(url) ? `${new URL(url).origin}${receiverPath}/${keyId}` : undefined;
    if (webhookUrl) await setWebhookUrl(config, keyId, webhookUrl, { accountId });
    await fs.writeFile(fileOf(env, dataDir), JSON.stringify({ keyId, key }), { mode: 0o600 });
    return { keyId, key, signingSecret, webhookUrl };
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
  if (!caller) return undefined;
  return { ...kept, ...(await deliverySettings(readConfig(env), caller.keyId)) };
}

/** Each database has its own file, since MONGO_URL may name another database at the next start. */
function fileOf(env: StackEnv, dataDir: string): string {
  const database = createHash('sha256').update(env.MONGO_URL).digest('hex').slice(0, 8);
  return path.join(dataDir, `test-key-${database}.json`);
}
