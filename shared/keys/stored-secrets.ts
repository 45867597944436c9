import type mongoose from 'mongoose';
import { type ApiKey, keys } from './api-key.ts';
import { decrypt, namedPrefix, prefixOf, type SecretsKey, type SecretsKeys } from './encryption.ts';

/**
 * Queries over the stored signing secrets by the key that they name. A ciphertext begins with its key's id, so each is a
 * few ranges of the index on `signingSecret`: it costs the same for ten keys of partners and for a million.
 */
type StoredSecrets = mongoose.mongo.Filter<ApiKey>;

/** Those that the first key has not encrypted. */
export const underOlderKeys = ([first]: SecretsKeys): StoredSecrets => ({
  $or: [{ signingSecret: { $lt: prefixOf(first) } }, { signingSecret: { $gte: endOf(prefixOf(first)) } }],
});

/** Those that name a key which is not among these: what lies between the listed ones. */
export function underMissingKeys(secretsKeys: SecretsKeys): StoredSecrets {
  const listed = secretsKeys.map(prefixOf).sort();
  const starts = [namedPrefix, ...listed.map(endOf)];
  const ends = [...listed, endOf(namedPrefix)];
  return { $or: starts.map((start, index) => ({ signingSecret: { $gte: start, $lt: ends[index] } })) };
}

/** The first text after all that begin with this prefix, which ends with a colon. */
const endOf = (prefix: string): string => `${prefix.slice(0, -1)};`;

/**
 * The first of these keys that opens a stored signing secret, `none stored` where there is no secret, or `none opens`. Looks
 * no further than to the first secret that opens.
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
