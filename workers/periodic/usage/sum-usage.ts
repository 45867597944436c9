import type mongoose from 'mongoose';
import { accounts } from '../../../shared/accounts/account.ts';
import type { Logger } from '../../../shared/base/logger.ts';
import { findAmong } from '../../../shared/base/mongo/collection.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { summableUntil } from '../../../shared/usage/days.ts';
import { type RideSums, rideSums } from '../../../shared/usage/ride-sums.ts';
import { type TripSums, tripSums } from '../../../shared/usage/trip-sums.ts';
import { isSumDue, noteSummed } from '../../../shared/usage/usage-progress.ts';
import { logFailedPart, onceAMinute, type Pace, type PacedWork } from '../turns.ts';
import { pagesById, type ReadableCollection } from '../walk.ts';
import { sumRidesOf } from './sum-rides.ts';
import { closeMonths, sumTripsOf } from './sum-trips.ts';

/** Sums the usage of all finished days, and closes finished months. */
export const usageSums: PacedWork = {
  leaseKey: '{rides:usage}:lease',
  ...onceAMinute,
  failure: 'usage not summed',
  async work(ctx, pace) {
    const until = summableUntil(ctx.now());
    if (!(await isSumDue(until))) return;
    const summed = await sumUsage(ctx.log, until, pace);
    if (summed.failed === 0) await noteSummed(until);
    const found = summed.rides + summed.months + summed.failed;
    ctx.log[found > 0 ? 'info' : 'debug']({ until, ...summed }, 'usage summed');
  },
};

export interface UsageResult {
  /** Rides that were summed, and months that were closed. */
  rides: number;
  months: number;
  /** Keys and accounts that failed. Each failure is logged and retried in the next turn. */
  failed: number;
}

/**
 * Brings the sums of all keys and accounts up to `until` (the start of a day) and closes the months that end by then.
 * Runs one short query at a time.
 */
export async function sumUsage(log: Logger, until: Date, pace: Pace): Promise<UsageResult> {
  const result: UsageResult = { rides: 0, months: 0, failed: 0 };
  const fail = (owner: object, error: unknown) => {
    logFailedPart(log, 'usage could not be summed', owner, error);
    result.failed += 1;
  };
  for await (const { owner: key, sums } of withSums<Pick<ApiKey, '_id' | 'accountId'>, RideSums>(
    keys,
    rideSums,
    pace,
  )) {
    try {
      result.rides += await sumRidesOf(key, sums, until, pace);
    } catch (error) {
      fail({ keyId: key._id }, error);
    }
  }
  for await (const { owner: account, sums } of withSums<WithId, TripSums>(accounts, tripSums, pace)) {
    try {
      await sumTripsOf(account._id, sums, until, pace);
      result.months += await closeMonths(account._id, sums, until, pace);
    } catch (error) {
      fail({ accountId: account._id }, error);
    }
  }
  return result;
}

interface WithId {
  _id: string;
}

/**
 * Yields each document of a collection together with the document that has the same id in a second collection. Reads
 * page by page.
 */
async function* withSums<Owner extends WithId, Sums extends WithId>(
  owners: ReadableCollection,
  sums: mongoose.mongo.Collection<Sums>,
  pace: Pace,
): AsyncGenerator<{ owner: Owner; sums?: Sums }> {
  const pageSize = 200;
  const options = committedReads();
  for await (const page of pagesById<Owner>(owners, { pageSize, projection: { accountId: 1 }, options }, pace)) {
    const ids = page.map(({ _id }) => _id);
    const found = await findAmong<Sums>(sums, ids, { through: 1, closedThrough: 1 }, {}, options);
    const byId = new Map(found.map((document) => [document._id, document]));
    for (const owner of page) yield { owner, sums: byId.get(owner._id) };
  }
}
