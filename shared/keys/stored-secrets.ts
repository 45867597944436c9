import type mongoose from 'mongoose';
import { decrypt, namedPrefix, prefixOf, type SecretsKey, type SecretsKeys } from '../base/encryption.ts';
import { type SecretStore, type StoredSecret, secretStores } from './secret-stores.ts';

/**
 * A query for the stored ciphertexts of a SECRETS_KEY. A ciphertext starts with its key's id, so a query scans a few
 * ranges of the field's index and costs the same for ten records and for a million.
 */
type Query = mongoose.mongo.Filter<StoredSecret>;

/** The ciphertexts that use a key other than the first. */
export const encryptedWithOlderKeys = ({ field }: SecretStore, [first]: SecretsKeys): Query => ({
  $or: [{ [field]: { $lt: prefixOf(first) } }, { [field]: { $gte: endOfPrefix(prefixOf(first)) } }],
});

/** The ciphertexts whose key is not listed. They are the ranges of the index between the listed keys. */
export function encryptedWithMissingKeys({ field }: SecretStore, secretsKeys: SecretsKeys): Query {
  const listed = secretsKeys.map(prefixOf).sort();
  const starts = [namedPrefix, ...listed.map(endOfPrefix)];
  const ends = [...listed, endOfPrefix(namedPrefix)];
  return { $or: starts.map((start, index) => ({ [field]: { $gte: start, $lt: ends[index] } })) };
}

/**
 * The first text that sorts after all texts with this prefix. The prefix ends with a colon, and `;` is the next
 * character.
 */
const endOfPrefix = (prefix: string): string => `${prefix.slice(0, -1)};`;

/** The ciphertext in a found record. */
export const ciphertextOf = ({ field }: SecretStore, found: StoredSecret): string => String(found[field]);

/**
 * The key that decrypts the stored ciphertexts, found with the first one that any key decrypts. `none stored` if no
 * ciphertext is stored, `none decrypts` if no key decrypts any of them.
 */
export async function keyInUse(secretsKeys: SecretsKeys): Promise<SecretsKey | 'none stored' | 'none decrypts'> {
  let answer: 'none stored' | 'none decrypts' = 'none stored';
  for (const store of secretStores) {
    const options = { projection: { [store.field]: 1 }, batchSize: 1_000 };
    for await (const found of store.collection.find({ [store.field]: { $exists: true } }, options)) {
      const inUse = secretsKeys.find((key) => decrypts(ciphertextOf(store, found), key, found._id));
      if (inUse) return inUse;
      answer = 'none decrypts';
    }
  }
  return answer;
}

function decrypts(text: string, key: SecretsKey, belongsTo: string): boolean {
  try {
    decrypt(text, [key], belongsTo);
    return true;
  } catch {
    return false;
  }
}
