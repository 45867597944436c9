import mongoose from 'mongoose';
import { ConfigError, NotMigrated } from '../config.ts';
import { keys } from './api-key.ts';
import { decrypt, encrypt, type SecretsKeys } from './encryption.ts';
import { keyInUse, underMissingKeys } from './stored-secrets.ts';

/** A ciphertext that only this database's keys open: a wrong SECRETS_KEY is noticed at the start, not at a delivery. */
interface SecretsCheck {
  _id: string;
  value: string;
}

const checkSchema = new mongoose.Schema<SecretsCheck>(
  { _id: String, value: { type: String, required: true } },
  { versionKey: false, autoIndex: false },
);
const checks = mongoose.model<SecretsCheck>('SecretsCheck', checkSchema, 'checks')
  .collection as unknown as mongoose.mongo.Collection<SecretsCheck>;
const checkId = 'secrets';
const plain = 'these keys belong to this database';

/**
 * Writes the check value where there is none, after a stored signing secret has opened. It is encrypted with the key that
 * is in use, and moves to a newer one only after all secrets have (`rekeyCheck`): so a start without the key in use is
 * refused. Throws ConfigError where the stored secrets do not open.
 */
export async function writeCheck(secretsKeys: SecretsKeys): Promise<void> {
  if (!(await checks.findOne({ _id: checkId }))) {
    const inUse = await keyInUse(secretsKeys);
    if (inUse === 'none opens')
      throw new ConfigError('Setting SECRETS_KEY opens none of the signing secrets of this database');
    const value = encrypt(plain, inUse === 'none stored' ? secretsKeys : [inUse], checkId);
    // Another migrate may be first: its value holds, and is looked at like any other.
    await checks.updateOne({ _id: checkId }, { $setOnInsert: { value } }, { upsert: true });
  }
  await assertSecretsKeys(secretsKeys);
}

/** Throws ConfigError, in one line, unless these keys open the check value. Commands that encrypt call it first. */
export async function assertCheck(secretsKeys: SecretsKeys): Promise<void> {
  const check = await checks.findOne({ _id: checkId });
  if (!check) throw new NotMigrated('the check value of SECRETS_KEY');
  const problem = problemOf(check.value, checkId, secretsKeys);
  if (problem) throw new ConfigError(`Setting SECRETS_KEY does not open the check value of this database: ${problem}`);
}

/**
 * Throws ConfigError, in one line, unless these keys open the check value, and where a stored signing secret names a key
 * that is not among them. Costs a read by `_id` and one of an index, so that every start can afford it.
 */
export async function assertSecretsKeys(secretsKeys: SecretsKeys): Promise<void> {
  const missing = () => keys.findOne(underMissingKeys(secretsKeys), { projection: { signingSecret: 1 } });
  const [found] = await Promise.all([missing(), assertCheck(secretsKeys)]);
  if (!found) return;
  const problem = problemOf(found.signingSecret, found._id, secretsKeys);
  throw new ConfigError(`Setting SECRETS_KEY does not open the signing secret of ${found._id}: ${problem}`);
}

/** Encrypts the check value with the first key. Only when no signing secret needs an older one any more. */
export async function rekeyCheck(secretsKeys: SecretsKeys): Promise<void> {
  const check = await checks.findOne({ _id: checkId });
  if (!check) throw new NotMigrated('the check value of SECRETS_KEY');
  const value = encrypt(decrypt(check.value, secretsKeys, checkId), secretsKeys, checkId);
  await checks.updateOne({ _id: checkId, value: check.value }, { $set: { value } });
}

/** Why a ciphertext does not open; null where it does. The reason names a key by its id at most. */
function problemOf(text: string, belongsTo: string, secretsKeys: SecretsKeys): string | null {
  try {
    decrypt(text, secretsKeys, belongsTo);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
