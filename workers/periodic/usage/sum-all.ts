import type mongoose from 'mongoose';
import { AccountModel } from '../../../shared/accounts/account.ts';
import { describeError } from '../../../shared/base/errors.ts';
import type { Logger } from '../../../shared/base/logger.ts';
import { collection } from '../../../shared/base/mongo/collection.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { rideSums } from '../../../shared/usage/ride-sums.ts';
import { type Pace, sumRidesOf } from '../../../shared/usage/sum-rides.ts';
import { closeMonths, sumTripsOf } from '../../../shared/usage/sum-trips.ts';
import { tripSums } from '../../../shared/usage/trip-sums.ts';
import { Ended } from '../pace.ts';

const pageSize = 200;
const accounts = collection<Named>(AccountModel);

export interface Summed {
  /** Rides that were summed, and months that were closed. */
  rides: number;
  months: number;
  /** Keys and accounts that failed. Each is logged, and the next turn tries it again. */
  failed: number;
}

/**
 * Brings the sums of all keys and accounts up to `until` (the start of a day), and closes the months that end by then. Goes
 * from one to the next, one short query at a time. What is done already costs its part of a page.
 */
export async function sumAll(log: Logger, until: Date, pace: Pace): Promise<Summed> {
  const summed: Summed = { rides: 0, months: 0, failed: 0 };
  const failed = (of: object, error: unknown) => {
    if (error instanceof Ended || isOutageOfMongo(error)) throw error;
    summed.failed += 1;
    log.warn({ ...of, error: describeError(error) }, 'usage could not be summed');
  };
  for await (const { owner: key, sums } of withSums(keys, rideSums, pace)) {
    try {
      summed.rides += await sumRidesOf(key, sums, until, pace);
    } catch (error) {
      failed({ keyId: key._id }, error);
    }
  }
  for await (const { owner: account, sums } of withSums(accounts, tripSums, pace)) {
    try {
      await sumTripsOf(account._id, sums, until, pace);
      summed.months += await closeMonths(account._id, sums, until, pace);
    } catch (error) {
      failed({ accountId: account._id }, error);
    }
  }
  return summed;
}

interface Named {
  _id: string;
}

/** Each document of a collection with the document of the same id in another, page by page. */
async function* withSums<Owner extends Named, Sums extends Named>(
  owners: mongoose.mongo.Collection<Owner>,
  sums: mongoose.mongo.Collection<Sums>,
  pace: Pace,
): AsyncGenerator<{ owner: Owner; sums?: Sums }> {
  for (let after = ''; ; ) {
    await pace();
    const filter = { _id: { $gt: after } } as mongoose.mongo.Filter<Owner>;
    const options = { sort: { _id: 1 }, limit: pageSize, batchSize: pageSize, ...committedReads() } as const;
    const page = (await owners.find(filter, { ...options, projection: { accountId: 1 } }).toArray()) as Owner[];
    const ids = { _id: { $in: page.map(({ _id }) => _id) } } as mongoose.mongo.Filter<Sums>;
    const found = (await sums
      .find(ids, { ...options, projection: { through: 1, closedThrough: 1 } })
      .toArray()) as Sums[];
    const byId = new Map(found.map((document) => [document._id, document]));
    for (const owner of page) yield { owner, sums: byId.get(owner._id) };
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last._id;
  }
}
