import type mongoose from 'mongoose';
import { type ApiKey, keys } from './api-key.ts';
import { decrypt, namedPrefix, prefixOf, type SecretsKey, type SecretsKeys } from './encryption.ts';

/**
 * A query for stored signing secrets by the key that encrypted them. A ciphertext starts with its key's id, so each
 * query is a few ranges of the index on `signingSecret` and costs the same for ten API keys and for a million.
 */
type StoredSecrets = mongoose.mongo.Filter<ApiKey>;

/** The secrets that the first key has not encrypted. */
export const underOlderKeys = ([first]: SecretsKeys): StoredSecrets => ({
  $or: [{ signingSecret: { $lt: prefixOf(first) } }, { signingSecret: { $gte: endOf(prefixOf(first)) } }],
});

/** The secrets whose key is not listed: the index ranges between the listed keys. */
export function underMissingKeys(secretsKeys: SecretsKeys): StoredSecrets {
  const listed = secretsKeys.map(prefixOf).sort();
  const starts = [namedPrefix, ...listed.map(endOf)];
  const ends = [...listed, endOf(namedPrefix)];
  return { $or: starts.map((start, index) => ({ signingSecret: { $gte: start, $lt: ends[index] } })) };
}

/**
 * The first text that sorts after all texts with this prefix. The prefix ends with a colon; `;` is the next character.
 */
const endOf = (prefix: string): string => `${prefix.slice(0, -1)};`;

/**
 * The first key that decrypts a stored signing secret; `none stored` when there is no secret, `none opens` when no key
 * decrypts any. Stops at the first secret that decrypts.
 */
export async function keyInUse(secretsKeys: SecretsKeys): Promise<SecretsKey | 'none stored' | 'none opens'> {
  let answer: 'none stored' | 'none opens' = 'none stored';
  for await (const { _id, signingSecret } of keys.find({}, { projection: { signingSecret: 1 }, batchSize: 1_000 })) {
    const opening = secretsKeys.find((key) => opens(signingSecret, key, _id));
    if (opening) return opening;
    answer = 'none opens';
  }
  return answer;
}

function opens(text: string, key: SecretsKey, belongsTo: string): boolean {
  try {
    decrypt(text, [key], belongsTo);
    return true;
  } catch {
    return false;
  }
}
