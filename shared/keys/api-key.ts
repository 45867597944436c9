import mongoose from 'mongoose';
import type { AppliedForm } from '../accounts/sent-form.ts';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { Mode } from '../base/terms.ts';
import { isWellFormedKey } from './key-format.ts';

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
  /** The key's slot within the account's key limit (places.ts). Keys from the command line have none. */
  place?: number;
  /** The key's own limit on creations, set by the operator. Missing: `contractLimit`. */
  limit?: CreationLimit;
  /** The passenger of a ride that says nothing about `notify` is texted. */
  textsPassenger?: true;
  /** The current streak of failed deliveries; removed by the next success (webhooks/delivery-health.ts). */
  failing?: FailureStreak;
  /** When the account got mails about this key's failing deliveries, within the last 24 hours. */
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
// Unique, so that concurrent creations cannot use the same slot and exceed the key limit of the account (places.ts).
keySchema.index({ accountId: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds the ciphertexts of a key (stored-secrets.ts).
keySchema.index({ signingSecret: 1 });

export const KeyModel = mongoose.model<ApiKey>('ApiKey', keySchema, 'keys');
export const keys = collection<ApiKey>(KeyModel);

/** The key of a request, without its secrets. */
export interface Caller {
  keyId: string;
  accountId: string;
  mode: Mode;
  /** The key's own limit on creations, if the operator has set one. */
  limit: CreationLimit | undefined;
  textsPassenger?: true;
}

/** The caller for a key: of a request to the API, or of a form that books with the key. */
export const callerOf = ({
  _id: keyId,
  accountId,
  mode,
  limit,
  textsPassenger,
}: Pick<ApiKey, '_id' | 'accountId' | 'mode' | 'limit' | 'textsPassenger'>): Caller => ({
  ...{ keyId, accountId, mode, limit },
  ...(textsPassenger && { textsPassenger }),
});

/** The fields of a key that authentication reads. */
export const callerFields = {
  hash: 1,
  accountId: 1,
  mode: 1,
  revokedAt: 1,
  suspendedAt: 1,
  accountSuspendedAt: 1,
  lastUsedAt: 1,
  limit: 1,
  textsPassenger: 1,
} as const;

/** True if the operator has suspended the key or its account. */
export const isSuspended = (key: Pick<ApiKey, 'suspendedAt' | 'accountSuspendedAt'>): boolean =>
  key.suspendedAt !== undefined || key.accountSuspendedAt !== undefined;

const findByHash = batchedFind<ApiKey>(keys, 'hash', callerFields);
const lastUsedResolutionMs = 60_000;

/**
 * Resolves with the caller of a secret key, or with null if the key is invalid, revoked or suspended (contract, section
 * 5). Reads the database each time, so a revoked or rotated key is refused on the next request, in every process.
 */
export async function findCaller(secretKey: string, nowMs: number): Promise<Caller | null> {
  if (!isWellFormedKey(secretKey)) return null;
  return toActiveCaller(await findByHash(sha256(secretKey)), nowMs);
}

/**
 * The caller of a key that was just read; null if the key is unknown, revoked or suspended. Records the use of the key.
 */
export function toActiveCaller(
  found: Pick<ApiKey, '_id' | Exclude<keyof typeof callerFields, 'hash'>> | null,
  nowMs: number,
): Caller | null {
  if (!found || found.revokedAt || isSuspended(found)) return null;
  if (nowMs - (found.lastUsedAt?.getTime() ?? 0) > lastUsedResolutionMs) noteUse(found._id, nowMs);
  return callerOf(found);
}

/**
 * The time of this process's last write of `lastUsedAt`, by key, oldest first. Contains only keys used within the last
 * minute.
 */
const lastUseWrittenAt = new Map<string, number>();

/**
 * Writes `lastUsedAt` at most once per minute for each key and process; without this limit, all concurrent requests
 * would write it, because they read the same old value. The request does not wait for the write. A lost write is
 * harmless, since `lastUsedAt` only shows which keys are in use. The next request retries a failed write.
 */
function noteUse(keyId: string, nowMs: number): void {
  for (const [id, at] of lastUseWrittenAt) {
    // Also an entry whose time is far in the future counts as old: the clock was set back after it.
    if (Math.abs(nowMs - at) < lastUsedResolutionMs) break;
    lastUseWrittenAt.delete(id);
  }
  if (lastUseWrittenAt.has(keyId)) return;
  lastUseWrittenAt.set(keyId, nowMs);
  const lately = new Date(nowMs - lastUsedResolutionMs);
  keys
    .updateOne(
      { _id: keyId, $or: [{ lastUsedAt: { $exists: false } }, { lastUsedAt: { $lt: lately } }] },
      { $set: { lastUsedAt: new Date(nowMs) } },
      { writeConcern: { w: 1 } },
    )
    .catch(() => {
      if (lastUseWrittenAt.get(keyId) === nowMs) lastUseWrittenAt.delete(keyId);
    });
}
