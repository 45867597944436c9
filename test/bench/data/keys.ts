import mongoose from 'mongoose';
import { encrypt } from '../../../shared/base/encryption.ts';
import { newAccountId, newKeyId, sha256 } from '../../../shared/base/ids.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { keyHint, newApiKey, newSigningSecret } from '../../../shared/keys/key-format.ts';
import { secretsKeys } from '../stack.ts';

export interface BenchKey {
  keyId: string;
  accountId: string;
  mode: Mode;
  /** The secret key itself, as a partner sends it. */
  key: string;
}

/**
 * Inserts `count` new keys as the service would. `lastUsedAt` is set, so that the service does not record a first use
 * during the measurement.
 */
export async function newKeys(
  count: number,
  mode: Mode,
  webhookUrl?: string,
  database?: string,
  accountId = newAccountId(),
): Promise<BenchKey[]> {
  const made = Array.from({ length: count }, () => ({ keyId: newKeyId(), accountId, mode, key: newApiKey(mode) }));
  const now = new Date();
  const records = made.map<ApiKey>(({ keyId, key }, index) => ({
    _id: keyId,
    accountId,
    name: `bench ${index}`,
    mode,
    hash: sha256(key),
    hint: keyHint(key),
    ...(webhookUrl && { webhookUrl }),
    signingSecret: encrypt(newSigningSecret(), secretsKeys, keyId),
    createdAt: now,
    lastUsedAt: now,
  }));
  const db = mongoose.connection.useDb(database ?? mongoose.connection.name);
  await db.collection<ApiKey>(keys.collectionName).insertMany(records, { ordered: false });
  return made;
}
