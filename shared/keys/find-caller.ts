import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import type { Mode } from '../base/terms.ts';
import { type ApiKey, type CreationLimit, isSuspended, keys } from './api-key.ts';
import { isWellFormedKey } from './key-format.ts';

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

/** The caller of a key; null if it is unknown, revoked or suspended. Records the use of the key. */
export function toActiveCaller(
  found: Pick<ApiKey, '_id' | Exclude<keyof typeof callerFields, 'hash'>> | null,
  nowMs: number,
): Caller | null {
  if (!found || found.revokedAt || isSuspended(found)) return null;
  if (nowMs - (found.lastUsedAt?.getTime() ?? 0) > lastUsedResolutionMs) noteUse(found._id, nowMs);
  return callerOf(found);
}

/** When this process last wrote `lastUsedAt`, by key, oldest first. Only keys used within the last minute. */
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
