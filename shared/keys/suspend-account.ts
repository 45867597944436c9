import { AccountModel } from '../accounts/account.ts';
import { AppError } from '../base/errors.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, keys } from './api-key.ts';

/**
 * Suspends an account until `resumeAccount`: refuses every key from its next request, and all changes on the dashboard.
 * Rides continue and their events are sent. Each key is marked, because authentication reads only the key's own
 * document. The account is marked first, so that keys created at the same time are marked too. Resolves with the number
 * of the account's active keys. Throws `not_found` for an unknown account.
 */
export async function suspendAccount(accountId: string): Promise<number> {
  const at = await mongoNow();
  await changeAccount(accountId, { $set: { suspendedAt: at } });
  await keys.updateMany({ accountId }, { $set: { accountSuspendedAt: at } });
  return activeKeys(accountId);
}

/** Lifts the suspension, but not that of single keys. Resolves and throws like `suspendAccount`. */
export async function resumeAccount(accountId: string): Promise<number> {
  await changeAccount(accountId, { $unset: { suspendedAt: 1 } });
  await keys.updateMany({ accountId }, { $unset: { accountSuspendedAt: 1 } });
  return activeKeys(accountId);
}

/** Marks a key as suspended if its account is suspended. Call it after creating the key. */
export async function suspendWithAccount({ _id, accountId }: Pick<ApiKey, '_id' | 'accountId'>): Promise<void> {
  const account = await AccountModel.findById(accountId, { suspendedAt: 1 }).lean();
  if (account?.suspendedAt) await keys.updateOne({ _id }, { $set: { accountSuspendedAt: account.suspendedAt } });
}

async function changeAccount(accountId: string, change: object): Promise<void> {
  const { matchedCount } = await AccountModel.updateOne({ _id: accountId }, change);
  if (matchedCount === 0) throw new AppError('not_found', { message: 'No account has this id' });
}

const activeKeys = (accountId: string): Promise<number> =>
  keys.countDocuments({ accountId, revokedAt: { $exists: false } }, timeLimit());
