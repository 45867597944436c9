import { AccountModel } from '../../shared/accounts/account.ts';
import type { Context } from '../../shared/base/context.ts';
import { newAccountId, newRideId, newTrackToken } from '../../shared/base/ids.ts';
import { createLogger } from '../../shared/base/logging/logger.ts';
import type { Mode } from '../../shared/base/mode.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import type { Pace } from '../../shared/usage/sum-rides.ts';
import { type Summed, sumAll } from '../../workers/periodic/usage/sum-all.ts';
import { ownDatabase } from './own-database.ts';
import { testConfig, useTestContext } from './service.ts';

/** A context on a database of its own, since summing goes through all keys and accounts. */
export const useUsageContext = (): Context =>
  useTestContext(async () => ({ MONGO_URL: (await ownDatabase('usage')).url }));

/** A moment as it is written, e.g. `2026-11-05 23:59:59.999`, UTC. */
export const at = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

/** Whose a ride is. */
export interface Whose {
  accountId: string;
  keyId: string;
  mode: Mode;
}

/** A key of an account, or of a new one. */
export async function newKey({
  accountId,
  mode = 'live',
  name = 'test',
}: {
  accountId?: string;
  mode?: Mode;
  name?: string;
} = {}): Promise<Whose> {
  const owner = accountId ?? newAccountId();
  if (!accountId) await AccountModel.create({ _id: owner, email: `${owner}@partner.example`, createdAt: new Date() });
  const { keyId } = await createKey(testConfig(), { accountId: owner, name, mode });
  return { accountId: owner, keyId, mode };
}

/** Rides that were created at these moments: their ids. */
export const ridesAt = (whose: Whose, ...moments: readonly Date[]): Promise<string[]> =>
  store(moments.map((createdAt) => ({ ...whose, createdAt, status: 'bidding', statusAt: createdAt })));

/** Trips that were completed at these moments, each at the same price: their ids. */
export const tripsAt = (whose: Whose, agreedPrice: number, ...moments: readonly Date[]): Promise<string[]> =>
  store(moments.map((statusAt) => ({ ...whose, createdAt: statusAt, status: 'completed', statusAt, agreedPrice })));

async function store(fields: readonly Partial<Ride>[]): Promise<string[]> {
  const made = fields.map(
    (some) => ({ _id: newRideId(some.createdAt?.getTime() ?? 0), trackToken: newTrackToken(), ...some }) as Ride,
  );
  if (made.length > 0) await rides.insertMany(made);
  return made.map(({ _id }) => _id);
}

/** Sums what all accounts have used before the start of a day, without rests. */
export const sumThrough = (until: Date, pace: Pace = async () => {}): Promise<Summed> =>
  sumAll(createLogger('silent', 'test'), until, pace);
