import mongoose from 'mongoose';
import type { AppliedForm } from '../accounts/sent-form.ts';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection } from '../base/mongo/collection.ts';
import type { Mode } from '../base/terms.ts';
import { isWellFormedKey } from './key-format.ts';

export interface ApiKey {
  _id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** SHA-256 of the secret key. The secret key itself is not stored. */
  hash: string;
  /** The part of the secret key that is shown to distinguish it from others. */
  hint: string;
  webhookUrl?: string;
  /** `whsec_...`, encrypted for this record. */
  signingSecret: string;
  createdAt: Date;
  lastUsedAt?: Date;
  rotatedAt?: Date;
  /** When the signing secret was last rolled. Missing where an earlier version rolled it. */
  rolledAt?: Date;
  revokedAt?: Date;
  /** Since when the operator refuses this key, or all keys of its account (suspend.ts). */
  suspendedAt?: Date;
  accountSuspendedAt?: Date;
  /** Which of the account's places for active keys it holds. Keys of the command line hold none. */
  place?: number;
  /** The deliveries that failed in a row, until one succeeds (webhooks/delivery-health.ts). */
  failing?: FailureStreak;
  /** When the account got the mails of the last 24 hours that this key's deliveries fail. */
  outageMailsAt?: Date[];
  /** When a worker last used the delivery settings for longer than 250 ms, because MongoDB was slow (delivery-settings.ts). */
  settingsHeldAt?: Date;
  /** When the next redelivery of an event of this key may be sent. */
  nextRedeliveryAt?: Date;
  /** The forms of the dashboard that made or changed it, the latest last. */
  forms?: AppliedForm[];
}

export interface FailureStreak {
  inRow: number;
  since: Date;
  /** Why the last one failed: a code of webhooks/failure-reasons.ts. */
  reason: string;
  /** The account got a mail about these failures. */
  isTold?: boolean;
}

const keySchema = new mongoose.Schema<ApiKey>(
  {
    _id: String,
    accountId: { type: String, required: true },
    name: { type: String, required: true },
    mode: { type: String, enum: ['live', 'test'], required: true },
    hash: { type: String, required: true },
    hint: { type: String, required: true },
    webhookUrl: String,
    signingSecret: { type: String, required: true },
    createdAt: { type: Date, required: true },
    lastUsedAt: Date,
    rotatedAt: Date,
    rolledAt: Date,
    revokedAt: Date,
    suspendedAt: Date,
    accountSuspendedAt: Date,
    place: Number,
    forms: { type: [{ _id: false, id: String, at: Date, isChange: Boolean }], default: undefined },
  },
  { versionKey: false, autoIndex: false },
);
keySchema.index({ hash: 1 }, { unique: true });
keySchema.index({ accountId: 1, createdAt: 1 });
// Finds the revoked keys that never had a ride (workers/retention).
keySchema.index({ revokedAt: 1, _id: 1 }, { partialFilterExpression: { revokedAt: { $exists: true } } });
// The active keys of an account, and its revoked ones by pages (list-keys.ts).
keySchema.index({ accountId: 1, revokedAt: -1, _id: -1 });
// Two creations at once cannot take the same place, so an account never has more active keys than places (places.ts).
keySchema.index({ accountId: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds those of an older key (stored-secrets.ts).
keySchema.index({ signingSecret: 1 });

export const KeyModel = mongoose.model<ApiKey>('ApiKey', keySchema, 'keys');
export const keys = collection<ApiKey>(KeyModel);

/** The key that a request was made with, without its secrets. */
export interface Caller {
  keyId: string;
  accountId: string;
  mode: Mode;
}

/** The fields of a key that authentication reads. */
export const callerFields = {
  hash: 1,
  accountId: 1,
  mode: 1,
  revokedAt: 1,
  suspendedAt: 1,
  accountSuspendedAt: 1,
  lastUsedAt: 1,
} as const;

/** Whether the operator refuses a key that is not revoked. */
export const isSuspended = (key: Pick<ApiKey, 'suspendedAt' | 'accountSuspendedAt'>): boolean =>
  key.suspendedAt !== undefined || key.accountSuspendedAt !== undefined;

const findByHash = batchedFind<ApiKey>(keys, 'hash', callerFields);
const lastUsedResolutionMs = 60_000;

/**
 * Resolves with the caller of a secret key, or with null when the key is invalid, revoked or suspended (contract, section
 * 5). Reads the database each time: a revoked or rotated key is refused on the next request, in every process.
 */
export async function findCaller(secretKey: string, nowMs: number): Promise<Caller | null> {
  if (!isWellFormedKey(secretKey)) return null;
  return admitted(await findByHash(sha256(secretKey)), nowMs);
}

/** The caller of a key that was just read; null for an unknown, revoked or suspended key. Notes that the key is in use. */
export function admitted(
  found: Pick<ApiKey, '_id' | Exclude<keyof typeof callerFields, 'hash'>> | null,
  nowMs: number,
): Caller | null {
  if (!found || found.revokedAt || isSuspended(found)) return null;
  if (nowMs - (found.lastUsedAt?.getTime() ?? 0) > lastUsedResolutionMs) noteUse(found._id, nowMs);
  return { keyId: found._id, accountId: found.accountId, mode: found.mode };
}

/** When this process last wrote `lastUsedAt` of each key, oldest first. Holds only keys used within the last minute. */
const notedAt = new Map<string, number>();

/**
 * Writes `lastUsedAt` at most once per key, minute and process: concurrent requests have all read the same old value.
 * The request does not wait for the write, which may be lost: it only shows which keys are in use. The next request
 * retries a failed write.
 */
function noteUse(keyId: string, nowMs: number): void {
  for (const [id, at] of notedAt) {
    // A time in the future means that the clock was set back; such an entry counts as old.
    if (Math.abs(nowMs - at) < lastUsedResolutionMs) break;
    notedAt.delete(id);
  }
  if (notedAt.has(keyId)) return;
  notedAt.set(keyId, nowMs);
  const lately = new Date(nowMs - lastUsedResolutionMs);
  keys
    .updateOne(
      { _id: keyId, $or: [{ lastUsedAt: { $exists: false } }, { lastUsedAt: { $lt: lately } }] },
      { $set: { lastUsedAt: new Date(nowMs) } },
      { writeConcern: { w: 1 } },
    )
    .catch(() => {
      if (notedAt.get(keyId) === nowMs) notedAt.delete(keyId);
    });
}
