import { accountOf } from '../../shared/accounts/account.ts';
import type { Context } from '../../shared/base/context.ts';
import { newAccountId, newRideId, newTrackToken } from '../../shared/base/ids.ts';
import { createLogger } from '../../shared/base/logger.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { dayMs, endOfMonth } from '../../shared/usage/days.ts';
import { UsageProgressModel } from '../../shared/usage/usage-progress.ts';
import { noDays, summaryOf, type UsageSummary, usageOf } from '../../shared/usage/usage-summary.ts';
import type { Pace } from '../../workers/periodic/turns.ts';
import { sumUsage, type UsageResult } from '../../workers/periodic/usage/sum-usage.ts';
import { ownDatabase } from './own-database.ts';
import { testConfig, useTestContext } from './service.ts';

/** A context on a separate database, because summing reads all keys and accounts. */
export const useUsageContext = (): Context => useTestContext(async () => ({ MONGO_URL: (await ownDatabase()).url }));

/** Parses a UTC time such as `2026-11-05 23:59:59.999`. */
export const at = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

/** The key and account of a ride. */
export interface UsageKey {
  accountId: string;
  keyId: string;
  mode: Mode;
}

/** Creates a key of an account, or of a new account. */
export async function newKey({
  accountId,
  mode = 'live',
  name = 'test',
}: {
  accountId?: string;
  mode?: Mode;
  name?: string;
} = {}): Promise<UsageKey> {
  const owner = accountId ?? (await accountOf(`${newAccountId()}@partner.example`))._id;
  const { keyId } = await createKey(testConfig(), { accountId: owner, name, mode });
  return { accountId: owner, keyId, mode };
}

/** Stores rides that were created at these times. Resolves with their ids. */
export const ridesAt = (key: UsageKey, ...moments: readonly Date[]): Promise<string[]> =>
  store(moments.map((createdAt) => ({ ...key, createdAt, status: 'bidding', statusAt: createdAt })));

/** Stores trips that were completed at these times for the same price. Resolves with their ids. */
export const tripsAt = (key: UsageKey, agreedPrice: number, ...moments: readonly Date[]): Promise<string[]> =>
  store(moments.map((statusAt) => ({ ...key, createdAt: statusAt, status: 'completed', statusAt, agreedPrice })));

const places = { pickup: { lat: 40.758, lng: -73.9855 }, destination: { lat: 40.7128, lng: -74.006 } };

async function store(fields: readonly Partial<Ride>[]): Promise<string[]> {
  const made = fields.map(
    (some) =>
      ({ _id: newRideId(some.createdAt?.getTime() ?? 0), trackToken: newTrackToken(), ...places, ...some }) as Ride,
  );
  if (made.length > 0) await rides.insertMany(made);
  return made.map(({ _id }) => _id);
}

/** Sums the usage of all accounts before the start of a day, without pauses. */
export const sumThrough = (until: Date, pace: Pace = async () => {}): Promise<UsageResult> =>
  sumUsage(createLogger('silent', 'test'), until, pace);

/** True if the sums of every account include the rides of a day (`2026-11-05`). */
export const isSummed = (day: string): Promise<boolean> =>
  isDoneThrough(new Date(Date.parse(`${day}T00:00:00Z`) + dayMs));

/** True if a month (`2026-11`) is closed for every account. */
export const isClosed = (month: string): Promise<boolean> => isDoneThrough(endOfMonth(month));

async function isDoneThrough(end: Date): Promise<boolean> {
  const progress = await UsageProgressModel.findById('usage').lean<{ through?: Date }>();
  return progress?.through !== undefined && progress.through >= end;
}

/** The usage of all keys of an account. */
export const usageSummary = async (accountId: string, nowMs: number): Promise<UsageSummary> =>
  summaryOf((await usageOf(accountId, noDays, nowMs)).keys);
