import { timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, keys } from '../keys/api-key.ts';
import { byCreation } from '../keys/list-keys.ts';
import { rideSums } from './ride-sums.ts';
import { summedThrough } from './usage-progress.ts';

/** A revoked key may get rides for this long, by requests that were authenticated before the revocation. */
const marginMs = 3_600_000;

type CountedKey = Pick<ApiKey, '_id' | 'name' | 'mode' | 'createdAt' | 'revokedAt'>;

/**
 * The keys that count for an account's usage, oldest first: all active keys, and the revoked keys that have or may have
 * rides. Other revoked keys are not read, because an account can have many of them: they have no sums and were revoked
 * before the last summing.
 */
export async function readCountedKeys(accountId: string): Promise<CountedKey[]> {
  const [through, summed] = await Promise.all([
    summedThrough(),
    rideSums.find({ accountId }, { projection: { _id: 1 }, ...timeLimit() }).toArray(),
  ]);
  const since = new Date(Math.max(0, (through?.getTime() ?? 0) - marginMs));
  const fields = { projection: { name: 1, mode: 1, createdAt: 1, revokedAt: 1 }, ...timeLimit() };
  const withSums = { _id: { $in: summed.map(({ _id }) => _id) }, accountId };
  const found = await Promise.all(
    [{ accountId, revokedAt: null }, { accountId, revokedAt: { $gte: since } }, withSums].map((filter) =>
      keys.find<CountedKey>(filter as object, fields).toArray(),
    ),
  );
  const byId = new Map(found.flat().map((key) => [key._id, key]));
  return [...byId.values()].sort(byCreation);
}
