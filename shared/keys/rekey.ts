import { decrypt, encrypt, type SecretsKeys } from '../base/encryption.ts';
import { findAll } from '../base/mongo/collection.ts';
import {
  ciphertextOf,
  encryptedWithOlderKeys,
  type SecretStore,
  type StoredSecret,
  secretStores,
} from './secret-stores.ts';
import { rekeyCheck } from './secrets-check.ts';

interface RekeyResult {
  /** The number of secrets that were re-encrypted. */
  rekeyed: number;
  /** The number of secrets that still use an older key. At 0 the older keys can be removed from SECRETS_KEY. */
  remaining: number;
  /**
   * Ids of records whose secret does not decrypt; missing if all secrets decrypt. docs/operations.md names the remedy
   * for each kind of id.
   */
  unopened?: string[];
}

/**
 * Re-encrypts every stored secret that uses an older key with the first key: signing secrets and waiting mails. Safe
 * while the service runs, because a secret that changes at the same time keeps its new value. Reads `batchSize` records
 * at a time. Idempotent.
 */
export async function rekeySecrets(secretsKeys: SecretsKeys, batchSize = 200): Promise<RekeyResult> {
  const unopened: string[] = [];
  let rekeyed = 0;
  let remaining = 0;
  for (const store of secretStores) {
    rekeyed += await rekeyStore(store, secretsKeys, { batchSize, unopened });
    remaining += await store.collection.countDocuments(encryptedWithOlderKeys(store, secretsKeys));
  }
  if (remaining === 0) await rekeyCheck(secretsKeys);
  return { rekeyed, remaining, ...(unopened.length > 0 && { unopened }) };
}

async function rekeyStore(
  store: SecretStore,
  secretsKeys: SecretsKeys,
  { batchSize, unopened }: { batchSize: number; unopened: string[] },
): Promise<number> {
  let rekeyed = 0;
  // Reads in the order of `_id`, so that a secret that does not decrypt is not read again.
  for (let batch = await olderAfter('', store, secretsKeys, batchSize); batch.length > 0; ) {
    const changes = batch.flatMap((found) => {
      const { _id } = found;
      const text = ciphertextOf(store, found);
      const renewed = reencrypt(text, secretsKeys, _id);
      if (!renewed) unopened.push(_id);
      // The filter contains the old ciphertext, so that a concurrent change is not overwritten.
      const filter = { _id, [store.field]: text };
      return renewed ? [{ updateOne: { filter, update: { $set: { [store.field]: renewed } } } }] : [];
    });
    if (changes.length > 0) rekeyed += (await store.collection.bulkWrite(changes, { ordered: false })).modifiedCount;
    batch = await olderAfter(batch.at(-1)?._id ?? '', store, secretsKeys, batchSize);
  }
  return rekeyed;
}

function olderAfter(id: string, store: SecretStore, secretsKeys: SecretsKeys, limit: number): Promise<StoredSecret[]> {
  const filter = { _id: { $gt: id }, ...encryptedWithOlderKeys(store, secretsKeys) };
  return findAll(store.collection, filter, { projection: { [store.field]: 1 }, sort: { _id: 1 }, limit });
}

function reencrypt(text: string, secretsKeys: SecretsKeys, belongsTo: string): string | null {
  try {
    return encrypt(decrypt(text, secretsKeys, belongsTo), secretsKeys, belongsTo);
  } catch {
    return null;
  }
}
