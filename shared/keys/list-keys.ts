import { timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, KeyModel, keys } from './api-key.ts';
import { type KeyFacts, withoutSecrets } from './manage-keys.ts';

/**
 * Lists of an account's keys for pages. Revoked keys can be many, so none of these reads all of them. They use the index of
 * account, time of revocation and id.
 */

interface AccountOwner {
  accountId: string;
}

/** Unlike `$exists: false`, this finds only entries of active keys in the index. */
const active = { revokedAt: null } as const;
const revoked = { revokedAt: { $gt: new Date(0) } } as const;

/** Sorts keys by their creation, oldest first. */
export const byCreation = (a: Pick<ApiKey, '_id' | 'createdAt'>, b: Pick<ApiKey, '_id' | 'createdAt'>): number =>
  a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);

/** The keys that are not revoked, oldest first. */
export async function listActiveKeys({ accountId }: AccountOwner): Promise<KeyFacts[]> {
  const found = await KeyModel.find({ accountId, ...active }, withoutSecrets).lean();
  return found.sort(byCreation);
}

/** A page of the revoked keys, the one revoked last first: at most `limit` of those after `after`, a revoked key's id. */
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

/** Beyond this the number of revoked keys is not counted: its cost would grow with it. */
export const mostCounted = 1_000;

/** How many of the account's keys are revoked; `mostCounted` + 1 where they are more. */
export const countRevokedKeys = ({ accountId }: AccountOwner): Promise<number> =>
  keys.countDocuments({ accountId, ...revoked }, { limit: mostCounted + 1, ...timeLimit() });

/** The keys of the account among these, revoked ones included. */
export async function keysAmong<Field extends keyof ApiKey>(
  keyIds: Iterable<string>,
  { accountId }: AccountOwner,
  fields: readonly Field[],
): Promise<Pick<ApiKey, '_id' | Field>[]> {
  const ids = [...new Set(keyIds)];
  if (ids.length === 0) return [];
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));
  return keys
    .find<Pick<ApiKey, '_id' | Field>>({ _id: { $in: ids }, accountId }, { projection, ...timeLimit() })
    .toArray();
}

/** The names of the account's keys among these, by id. */
export async function keyNames(keyIds: Iterable<string>, owner: AccountOwner): Promise<Map<string, string>> {
  return new Map((await keysAmong(keyIds, owner, ['name'])).map(({ _id, name }) => [_id, name]));
}
