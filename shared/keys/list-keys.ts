import { findAmong } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, KeyModel, keys } from './api-key.ts';
import { type KeyFacts, withoutSecrets } from './manage-keys.ts';

/**
 * Lists of an account's keys for pages. An account can have many revoked keys, so no function here reads all of them.
 * The lists use the index of account, time of revocation and id.
 */

interface AccountOwner {
  accountId: string;
}

/** Unlike `$exists: false`, this scans only the index entries of active keys. */
const active = { revokedAt: null } as const;
const revoked = { revokedAt: { $gt: new Date(0) } } as const;

/** Sorts keys by creation, oldest first. */
export const byCreation = (a: Pick<ApiKey, '_id' | 'createdAt'>, b: Pick<ApiKey, '_id' | 'createdAt'>): number =>
  a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);

/** The keys that are not revoked, oldest first. */
export async function listActiveKeys({ accountId }: AccountOwner): Promise<KeyFacts[]> {
  const found = await KeyModel.find({ accountId, ...active }, withoutSecrets).lean();
  return found.sort(byCreation);
}

/** A page of the revoked keys, last revoked first: at most `limit` keys after the key with the id `after`. */
export async function listRevokedKeys({ accountId }: AccountOwner, limit: number, after?: string): Promise<KeyFacts[]> {
  const last = after
    ? await keys.findOne({ _id: after, accountId, ...revoked }, { projection: { revokedAt: 1 } })
    : null;
  const at = last?.revokedAt;
  const older = at && { $or: [{ revokedAt: { $lt: at } }, { revokedAt: at, _id: { $lt: last._id } }] };
  return KeyModel.find({ accountId, ...revoked, ...older }, withoutSecrets)
    .sort({ revokedAt: -1, _id: -1 })
    .limit(limit)
    .lean();
}

/** Revoked keys are counted only up to this number, because the cost of counting grows with it. */
export const maxCountedKeys = 1_000;

/** The number of the account's revoked keys; `maxCountedKeys` + 1 if it has more than `maxCountedKeys`. */
export const countRevokedKeys = ({ accountId }: AccountOwner): Promise<number> =>
  keys.countDocuments({ accountId, ...revoked }, { limit: maxCountedKeys + 1, ...timeLimit() });

/** The given keys that belong to the account, including revoked ones. */
export async function keysAmong<Field extends keyof ApiKey>(
  keyIds: Iterable<string>,
  { accountId }: AccountOwner,
  fields: readonly Field[],
): Promise<Pick<ApiKey, '_id' | Field>[]> {
  return findAmong(keys, keyIds, Object.fromEntries(fields.map((field) => [field, 1])), { accountId });
}

/** The names, by id, of the given keys that belong to the account. */
export async function keyNames(keyIds: Iterable<string>, owner: AccountOwner): Promise<Map<string, string>> {
  return new Map((await keysAmong(keyIds, owner, ['name'])).map(({ _id, name }) => [_id, name]));
}
