import mongoose from 'mongoose';
import type { AppliedForm } from '../accounts/sent-form.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { Mode } from '../base/terms.ts';

export interface ApiKey {
  _id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** SHA-256 of the secret key. The secret key itself is not stored. */
  hash: string;
  /** The part of the secret key that may be shown, by which people distinguish keys. */
  hint: string;
  webhookUrl?: string;
  /** `whsec_...`, encrypted for this record. */
  signingSecret: string;
  createdAt: Date;
  lastUsedAt?: Date;
  rotatedAt?: Date;
  /** The time of the last roll of the signing secret. */
  rolledAt?: Date;
  revokedAt?: Date;
  /** When the operator suspended this key, or its account (suspend-account.ts). */
  suspendedAt?: Date;
  accountSuspendedAt?: Date;
  /** The key's slot within the account's key limit (manage-keys.ts). Keys from the command line have none. */
  place?: number;
  /** The key's own limit on creations, set by the operator. Missing: `contractLimit`. */
  limit?: CreationLimit;
  /** The passenger of a ride that says nothing about `notify` is texted. */
  textsPassenger?: true;
  /** The current streak of failed deliveries; removed by the next success (workers/webhooks/report/health-log.ts). */
  failing?: FailureStreak;
  /** The last streak of 5 or more, until the mail about its end is stored (workers/periodic/outage-mails.ts). */
  recovered?: FailureStreak;
  /** When the account got mails about this key's failing deliveries, within the 24 hours before the last failure. */
  outageMailsAt?: Date[];
  /** The last time that a worker held delivery settings for longer than 250 ms (delivery-settings.ts). */
  settingsHeldAt?: Date;
  /** The earliest time at which the key's next redelivery may start, because redeliveries are throttled. */
  nextRedeliveryAt?: Date;
  /** The key has or had further endpoints (endpoints.ts). */
  hasEndpoints?: true;
  /** The dashboard forms that created or changed the key, newest last. */
  forms?: AppliedForm[];
}

/** The most rides that a key can create in any 60 s and in any 3,600 s. */
export interface CreationLimit {
  perMinute: number;
  perHour: number;
}
/** The contract's limit for each key (section 8). */
export const contractLimit: CreationLimit = { perMinute: 30, perHour: 300 };

export interface FailureStreak {
  inRow: number;
  since: Date;
  /** When the last delivery failed. */
  at: Date;
  /** The reason of the last failure: a code of webhooks/failure-reasons.ts. */
  reason: string;
  /** True if the account got a mail about these failures. */
  isTold?: boolean;
  /** The ids of the mails about it. Empty for keys of the operator, who gets no mail. */
  mailIds?: string[];
}

const keySchema = recordSchema();
keySchema.index({ hash: 1 }, { unique: true });
keySchema.index({ accountId: 1, createdAt: 1 });
// For the retention (workers/periodic/retention), which deletes revoked keys that never had a ride.
keySchema.index({ revokedAt: 1, _id: 1 }, { partialFilterExpression: { revokedAt: { $exists: true } } });
// Lists the active keys of an account, and pages of its revoked keys (list-keys.ts).
keySchema.index({ accountId: 1, revokedAt: -1, _id: -1 });
// Unique, so that concurrent creations cannot use the same slot and exceed the account's key limit (manage-keys.ts).
keySchema.index({ accountId: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } });
// Find the keys that owe a mail (workers/periodic/outage-mails.ts).
keySchema.index(
  { 'failing.isTold': 1, 'failing.inRow': 1 },
  { partialFilterExpression: { 'failing.inRow': { $exists: true } } },
);
keySchema.index({ recovered: 1 }, { sparse: true });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds the ciphertexts of a key (secret-stores.ts).
keySchema.index({ signingSecret: 1 });

export const KeyModel = mongoose.model<ApiKey>('ApiKey', keySchema, 'keys');
export const keys = collection<ApiKey>(KeyModel);

/** True if the operator has suspended the key or its account. */
export const isSuspended = (key: Pick<ApiKey, 'suspendedAt' | 'accountSuspendedAt'>): boolean =>
  key.suspendedAt !== undefined || key.accountSuspendedAt !== undefined;
