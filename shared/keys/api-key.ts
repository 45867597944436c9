import mongoose from 'mongoose';
import { batchedFind } from '../batch.ts';
import { sha256 } from '../ids.ts';
import type { Mode } from '../mode.ts';
import { isWellFormedKey } from './key-format.ts';

export interface ApiKey {
  _id: string;
  accountId: string;
  name: string;
  mode: Mode;
  /** SHA-256 of the secret key, which itself is kept nowhere. */
  hash: string;
  /** What is shown of the secret key to tell it from others. */
  hint: string;
  webhookUrl?: string;
  /** `whsec_...`, encrypted for this record. */
  signingSecret: string;
  createdAt: Date;
  lastUsedAt?: Date;
  rotatedAt?: Date;
  revokedAt?: Date;
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
    revokedAt: Date,
  },
  { versionKey: false, autoIndex: false },
);
keySchema.index({ hash: 1 }, { unique: true });
keySchema.index({ accountId: 1, createdAt: 1 });
// A ciphertext begins with the id of its SECRETS_KEY: finds those under another key than the first (stored-secrets.ts).
keySchema.index({ signingSecret: 1 });

export const KeyModel = mongoose.model<ApiKey>('ApiKey', keySchema, 'keys');
export const keys = KeyModel.collection as unknown as mongoose.mongo.Collection<ApiKey>;

/** Who is calling: what a request may know of its key. */
export interface Caller {
  keyId: string;
  accountId: string;
  mode: Mode;
}

/** What is read of a key to know whom it lets in. */
export const callerFields = { hash: 1, accountId: 1, mode: 1, revokedAt: 1, lastUsedAt: 1 } as const;

const findByHash = batchedFind<ApiKey>(keys, 'hash', callerFields);
const lastUsedResolutionMs = 60_000;

/**
 * The caller that a secret key belongs to, or null (contract, section 5). Asks the database each time: a key that was
 * revoked or rotated is dead on the next request, in every process.
 */
export async function findCaller(secretKey: string, nowMs: number): Promise<Caller | null> {
  if (!isWellFormedKey(secretKey)) return null;
  return admitted(await findByHash(sha256(secretKey)), nowMs);
}

/** The caller whom a key, as it was found just now, lets in; null for none and for a revoked one. */
export function admitted(
  found: Pick<ApiKey, '_id' | Exclude<keyof typeof callerFields, 'hash'>> | null,
  nowMs: number,
): Caller | null {
  if (!found || found.revokedAt) return null;
  if (nowMs - (found.lastUsedAt?.getTime() ?? 0) > lastUsedResolutionMs) noteUse(found._id, nowMs);
  return { keyId: found._id, accountId: found.accountId, mode: found.mode };
}

/** When this process last noted the use of each key, the oldest first. Holds only keys used within the last minute. */
const notedAt = new Map<string, number>();

/**
 * Writes once per key, minute and process: requests that come at once have all read the same old `lastUsedAt`. Nobody
 * waits for it, and it may be lost: it only says which keys are in use. A write that fails may be tried again.
 */
function noteUse(keyId: string, nowMs: number): void {
  for (const [id, at] of notedAt) {
    // The clock may have been set back: what lies in the future is as old.
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
