import mongoose from 'mongoose';
import { AccountModel } from './accounts/account.ts';
import { AuditModel } from './accounts/audit.ts';
import { LimitModel } from './accounts/limit.ts';
import { SessionModel } from './accounts/session.ts';
import { SignInModel } from './accounts/sign-in.ts';
import { SubmissionModel } from './accounts/submission.ts';
import { NotMigrated } from './config.ts';
import { KeyModel } from './keys/api-key.ts';
import type { SecretsKeys } from './keys/encryption.ts';
import { assertSecretsKeys, writeCheck } from './keys/secrets-check.ts';
import { MailModel } from './mail/mail-row.ts';
import { RideModel } from './rides/ride.ts';
import { UsageProgressModel } from './usage/progress.ts';
import { RideSumsModel } from './usage/ride-sums.ts';
import { StatementPartModel } from './usage/statement-parts.ts';
import { TripSumsModel } from './usage/trip-sums.ts';
import { AttemptModel } from './webhooks/attempts.ts';

const usageModels = [RideSumsModel, StatementPartModel, TripSumsModel, UsageProgressModel];
const models = [
  AccountModel,
  AttemptModel,
  AuditModel,
  LimitModel,
  SessionModel,
  SignInModel,
  SubmissionModel,
  KeyModel,
  MailModel,
  RideModel,
  ...usageModels,
];

/**
 * Creates the missing indexes of the connected database and the check value of these keys. Idempotent; can run while
 * the service runs. Throws ConfigError when the keys do not decrypt the stored secrets.
 */
export async function migrate(secretsKeys: SecretsKeys): Promise<void> {
  for (const model of models) {
    await model.createCollection();
    await model.createIndexes();
  }
  await writeCheck(secretsKeys);
}

/**
 * Throws ConfigError, in one line, unless `migrate` of this version has run in the connected database and these keys,
 * if any, decrypt its secrets. Without the unique indexes a ride could exist twice; without the others each sweep would
 * read all rides.
 */
export async function assertMigrated(secretsKeys: SecretsKeys): Promise<void> {
  await Promise.all([...models.map(assertIndexes), secretsKeys.length > 0 && assertSecretsKeys(secretsKeys)]);
}

async function assertIndexes({ schema, collection }: (typeof models)[number]): Promise<void> {
  const existing = await collection.listIndexes().toArray().catch(emptyWithoutCollection);
  for (const [fields, { unique = false }] of schema.indexes()) {
    const wanted = JSON.stringify(fields);
    const isThere = existing.some(
      (index) => JSON.stringify(index.key) === wanted && Boolean(index.unique) === Boolean(unique),
    );
    if (!isThere) throw new NotMigrated(`the index of ${Object.keys(fields).join(', ')} on ${collection.name}`);
  }
}

function emptyWithoutCollection(error: unknown): [] {
  const namespaceNotFound = 26;
  if (error instanceof mongoose.mongo.MongoServerError && error.code === namespaceNotFound) return [];
  throw error;
}
