import mongoose from 'mongoose';
import { decrypt, encrypt, type SecretsKeys } from '../base/encryption.ts';
import { ConfigError, NotMigrated } from '../base/errors.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { ciphertextOf, encryptedWithMissingKeys, secretStores } from './secret-stores.ts';

/** A ciphertext of this database's SECRETS_KEY: a process with another one fails at its start, not at a delivery. */
interface SecretsCheck {
  _id: string;
  value: string;
}

const checks = collection<SecretsCheck>(mongoose.model('SecretsCheck', recordSchema(), 'checks'));
const checkId = 'secrets';
const checkText = 'these keys belong to this database';

/**
 * Writes the check value if it does not exist, encrypted with the first key. Throws ConfigError, and writes nothing,
 * unless these keys include the key of every stored secret. Throws ConfigError also for another check value.
 */
export async function writeCheck(secretsKeys: SecretsKeys): Promise<void> {
  await assertStoredSecrets(secretsKeys);
  const value = encrypt(checkText, secretsKeys, checkId);
  await checks.updateOne({ _id: checkId }, { $setOnInsert: { value } }, { upsert: true });
  await assertCheck(secretsKeys);
}

/** Throws a one-line ConfigError unless these keys decrypt the check value. Commands that encrypt call it first. */
export async function assertCheck(secretsKeys: SecretsKeys): Promise<void> {
  const check = await checks.findOne({ _id: checkId });
  if (!check) throw new NotMigrated('the check value of SECRETS_KEY');
  const problem = problemOf(check.value, checkId, secretsKeys);
  if (problem)
    throw new ConfigError(`Setting SECRETS_KEY does not decrypt the check value of this database: ${problem}`);
}

/**
 * Throws a one-line ConfigError unless these keys decrypt the check value and include the key of every stored secret.
 * Costs one read by `_id` and an index lookup per store, so every start can do it.
 */
export async function assertSecretsKeys(secretsKeys: SecretsKeys): Promise<void> {
  await assertCheck(secretsKeys);
  await assertStoredSecrets(secretsKeys);
}

async function assertStoredSecrets(secretsKeys: SecretsKeys): Promise<void> {
  for (const store of secretStores) {
    const filter = encryptedWithMissingKeys(store, secretsKeys);
    const found = await store.collection.findOne(filter, { projection: { [store.field]: 1 } });
    if (!found) continue;
    const problem = problemOf(ciphertextOf(store, found), found._id, secretsKeys);
    throw new ConfigError(`Setting SECRETS_KEY does not decrypt the ${store.what} of ${found._id}: ${problem}`);
  }
}

/** Re-encrypts the check value with the first key. Call it only when no stored secret needs an older key. */
export async function rekeyCheck(secretsKeys: SecretsKeys): Promise<void> {
  const check = await checks.findOne({ _id: checkId });
  if (!check) throw new NotMigrated('the check value of SECRETS_KEY');
  const value = encrypt(decrypt(check.value, secretsKeys, checkId), secretsKeys, checkId);
  await checks.updateOne({ _id: checkId, value: check.value }, { $set: { value } });
}

/** The reason why a ciphertext does not decrypt; null if it does. The reason contains at most a key's id. */
function problemOf(text: string, belongsTo: string, secretsKeys: SecretsKeys): string | null {
  try {
    decrypt(text, secretsKeys, belongsTo);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
