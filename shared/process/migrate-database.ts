import mongoose from 'mongoose';
import { AccountModel } from '../accounts/account.ts';
import { AuditModel } from '../accounts/audit.ts';
import { LimitModel } from '../accounts/limit.ts';
import { OperatorTokenModel } from '../accounts/operator-token.ts';
import { SessionModel } from '../accounts/session.ts';
import { SignInModel } from '../accounts/sign-in-row.ts';
import type { SecretsKeys } from '../base/encryption.ts';
import { NotMigrated } from '../base/errors.ts';
import { FenceModel } from '../base/mongo/durable-read.ts';
import { isOutageOfMongo } from '../base/mongo/outage.ts';
import { DriverModel, driverSessions } from '../drivers/driver.ts';
import { PositionModel } from '../drivers/positions.ts';
import { FareDayModel, FareProgressModel } from '../fares/fare-days.ts';
import { KeyModel } from '../keys/api-key.ts';
import { EndpointModel } from '../keys/endpoints.ts';
import { assertSecretsKeys, writeCheck } from '../keys/secrets-check.ts';
import { MailModel } from '../mail/mail-row.ts';
import { MessageModel } from '../messages/message-row.ts';
import { NumberKeyModel, OptOutModel } from '../messages/numbers.ts';
import { RetentionProgressModel } from '../retention/erase-rides.ts';
import { startFeedMark } from '../rides/feed/raise-feed-mark.ts';
import { RideModel } from '../rides/ride.ts';
import { RideSumsModel } from '../usage/ride-sums.ts';
import { StatementPartModel, TripSumsModel } from '../usage/trip-sums.ts';
import { UsageProgressModel } from '../usage/usage-progress.ts';
import { AttemptModel } from '../webhooks/attempts.ts';

const usageModels = [RideSumsModel, StatementPartModel, TripSumsModel, UsageProgressModel];
const models = [
  AccountModel,
  AttemptModel,
  AuditModel,
  LimitModel,
  OperatorTokenModel,
  SessionModel,
  SignInModel,
  KeyModel,
  EndpointModel,
  DriverModel,
  driverSessions.model,
  FenceModel,
  PositionModel,
  MailModel,
  MessageModel,
  NumberKeyModel,
  OptOutModel,
  RideModel,
  RetentionProgressModel,
  FareDayModel,
  FareProgressModel,
  ...usageModels,
];

/** A start waits this long for answers from MongoDB. */
const startLimitMs = 5_000;

/**
 * Creates the missing indexes of the connected database, the mark of the event feed and the check value of these keys.
 * Building an index takes longer the more documents there are. Idempotent, and safe while the service runs. Throws
 * ConfigError when the keys do not decrypt the stored secrets.
 */
export async function migrate(secretsKeys: SecretsKeys): Promise<void> {
  for (const model of models) await createMissing(model);
  await startFeedMark();
  await writeCheck(secretsKeys);
}

/** Builds all missing indexes of a collection with one command, which reads its documents once. */
async function createMissing(model: Indexed): Promise<void> {
  const indexes = model.schema
    .indexes()
    .map(([key, options]) => ({ ...options, key }) as mongoose.mongo.IndexDescription);
  if (indexes.length > 0) await model.collection.createIndexes(indexes);
  else await model.createCollection();
}

/**
 * Throws ConfigError with one line unless `migrate` of this version has run in the connected database and these keys,
 * if any, decrypt its secrets. Without the unique indexes a ride could exist twice; without the others each sweep would
 * read all rides.
 */
export async function assertMigrated(secretsKeys: SecretsKeys): Promise<void> {
  const untilMs = performance.now() + startLimitMs;
  for (const model of models) await answered(() => assertIndexes(model), untilMs);
  if (secretsKeys.length > 0) await answered(() => assertSecretsKeys(secretsKeys), untilMs);
}

/** Repeats a check while MongoDB does not answer, because the first answers can be slow on a busy machine. */
async function answered<T>(check: () => Promise<T>, untilMs: number): Promise<T> {
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!isOutageOfMongo(error) || performance.now() > untilMs) throw error;
    }
  }
}

/** Describes the indexes that the connected database lacks. Throws when MongoDB is unreachable. */
export async function missingIndexes(): Promise<string[]> {
  const missing: string[] = [];
  for (const model of models) missing.push(...(await missingIndexesOf(model)));
  return missing;
}

async function assertIndexes(model: Indexed): Promise<void> {
  const [missing] = await missingIndexesOf(model);
  if (missing) throw new NotMigrated(missing);
}

type Indexed = (typeof models)[number];

async function missingIndexesOf({ schema, collection }: Indexed): Promise<string[]> {
  const existing = await collection.listIndexes().toArray().catch(emptyWithoutCollection);
  return schema.indexes().flatMap(([fields, { unique = false }]) => {
    const wanted = JSON.stringify(fields);
    const isThere = existing.some(
      (index) => JSON.stringify(index.key) === wanted && Boolean(index.unique) === Boolean(unique),
    );
    return isThere ? [] : [`the index of ${Object.keys(fields).join(', ')} on ${collection.name}`];
  });
}

function emptyWithoutCollection(error: unknown): [] {
  const namespaceNotFound = 26;
  if (error instanceof mongoose.mongo.MongoServerError && error.code === namespaceNotFound) return [];
  throw error;
}
