import mongoose from 'mongoose';
import { AccountModel } from './accounts/account.ts';
import { NotMigrated } from './config.ts';
import { KeyModel } from './keys/api-key.ts';
import type { SecretsKeys } from './keys/encryption.ts';
import { assertSecretsKeys, writeCheck } from './keys/secrets-check.ts';
import { RideModel } from './rides/ride.ts';

const models = [AccountModel, KeyModel, RideModel];

/**
 * Makes every index that is missing in the connected database, and the check value of these keys. Can run at any time, and
 * again. Throws ConfigError where the keys do not open what is stored.
 */
export async function migrate(secretsKeys: SecretsKeys): Promise<void> {
  for (const model of models) {
    await model.createCollection();
    await model.createIndexes();
  }
  await writeCheck(secretsKeys);
}

/**
 * Throws ConfigError, in one line, unless `migrate` of this version has run in the connected database and its secrets open
 * with these keys, where this process has any. Without its unique indexes a ride can exist twice, without the others a
 * sweep reads every ride.
 */
export async function assertMigrated(secretsKeys: SecretsKeys): Promise<void> {
  await Promise.all([...models.map(assertIndexes), secretsKeys.length > 0 && assertSecretsKeys(secretsKeys)]);
}

async function assertIndexes({ schema, collection }: (typeof models)[number]): Promise<void> {
  const existing = await collection.listIndexes().toArray().catch(noneWithoutCollection);
  for (const [fields, { unique = false }] of schema.indexes()) {
    const wanted = JSON.stringify(fields);
    const isThere = existing.some(
      (index) => JSON.stringify(index.key) === wanted && Boolean(index.unique) === Boolean(unique),
    );
    if (!isThere) throw new NotMigrated(`the index of ${Object.keys(fields).join(', ')} on ${collection.name}`);
  }
}

function noneWithoutCollection(error: unknown): [] {
  const namespaceNotFound = 26;
  if (error instanceof mongoose.mongo.MongoServerError && error.code === namespaceNotFound) return [];
  throw error;
}
