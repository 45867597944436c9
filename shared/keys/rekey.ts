import { type ApiKey, keys } from './api-key.ts';
import { decrypt, encrypt, type SecretsKeys } from './encryption.ts';
import { rekeyCheck } from './secrets-check.ts';
import { underOlderKeys } from './stored-secrets.ts';

export interface Rekeyed {
  /** How many signing secrets were encrypted again. */
  rekeyed: number;
  /** How many are still encrypted with an older key. At 0 the older keys can be removed from SECRETS_KEY. */
  remaining: number;
  /** Ids of API keys whose signing secret does not decrypt: each needs a new one. Absent when there are none. */
  unopened?: string[];
}

/**
 * Encrypts every signing secret of an older key with the first key. Runs while the service runs: a secret that is
 * rolled at the same time keeps its new value. Reads `batchSize` records at a time. Idempotent.
 */
export async function rekeySecrets(secretsKeys: SecretsKeys, batchSize = 200): Promise<Rekeyed> {
  const unopened: string[] = [];
  let rekeyed = 0;
  // In the order of `_id`, so that a secret that does not decrypt is read only once.
  for (let batch = await olderAfter('', secretsKeys, batchSize); batch.length > 0; ) {
    const changes = batch.flatMap(({ _id, signingSecret }) => {
      const renewed = reencrypted(signingSecret, secretsKeys, _id);
      if (!renewed) unopened.push(_id);
      // The filter holds the old ciphertext, so that a concurrent roll is not overwritten.
      return renewed
        ? [{ updateOne: { filter: { _id, signingSecret }, update: { $set: { signingSecret: renewed } } } }]
        : [];
    });
    if (changes.length > 0) rekeyed += (await keys.bulkWrite(changes, { ordered: false })).modifiedCount;
    batch = await olderAfter(batch.at(-1)?._id ?? '', secretsKeys, batchSize);
  }
  const remaining = await keys.countDocuments(underOlderKeys(secretsKeys));
  if (remaining === 0) await rekeyCheck(secretsKeys);
  return { rekeyed, remaining, ...(unopened.length > 0 && { unopened }) };
}

type StoredSecret = Pick<ApiKey, '_id' | 'signingSecret'>;

function olderAfter(id: string, secretsKeys: SecretsKeys, limit: number): Promise<StoredSecret[]> {
  const filter = { _id: { $gt: id }, ...underOlderKeys(secretsKeys) };
  return keys
    .find<StoredSecret>(filter, { projection: { signingSecret: 1 }, batchSize: limit + 1 })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

function reencrypted(text: string, secretsKeys: SecretsKeys, belongsTo: string): string | null {
  try {
    return encrypt(decrypt(text, secretsKeys, belongsTo), secretsKeys, belongsTo);
  } catch {
    return null;
  }
}
