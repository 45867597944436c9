import mongoose from 'mongoose';
import { AccountModel } from './accounts/account.ts';
import { AuditModel } from './accounts/audit.ts';
import { LimitModel } from './accounts/limit.ts';
import { SessionModel } from './accounts/session.ts';
import { SignInModel } from './accounts/sign-in.ts';
import { SubmissionModel } from './accounts/submission.ts';
import { NotMigrated } from './config.ts';
import { DriverModel } from './drivers/driver.ts';
import { driverSessions } from './drivers/driver-session.ts';
import { PositionModel } from './drivers/positions.ts';
import { FareDayModel, FareProgressModel } from './fares/fare-days.ts';
import { KeyModel } from './keys/api-key.ts';
import type { SecretsKeys } from './keys/encryption.ts';
import { assertSecretsKeys, writeCheck } from './keys/secrets-check.ts';
import { MailModel } from './mail/mail-row.ts';
import { FenceModel } from './mongo/fence.ts';
import { isOutageOfMongo } from './mongo/outage.ts';
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
  DriverModel,
  driverSessions.model,
  FenceModel,
  PositionModel,
  MailModel,
  RideModel,
  FareDayModel,
  FareProgressModel,
  ...usageModels,
];

/** How long a start waits for answers of MongoDB. */
const startLimitMs = 5_000;

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
  const untilMs = performance.now() + startLimitMs;
  for (const model of models) await answered(() => assertIndexes(model), untilMs);
  if (secretsKeys.length > 0) await answered(() => assertSecretsKeys(secretsKeys), untilMs);
}

/** Repeats a check that MongoDB did not answer: on a busy machine the first answers can take longer than a request may. */
async function answered(check: () => Promise<void>, untilMs: number): Promise<void> {
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!isOutageOfMongo(error) || performance.now() > untilMs) throw error;
    }
  }
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
