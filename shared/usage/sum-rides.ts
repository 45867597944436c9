import type { ApiKey } from '../keys/api-key.ts';
import { committedReads } from '../mongo/durability.ts';
import { insertOnce } from '../mongo/insert-once.ts';
import { createdIndex, rides } from '../rides/ride.ts';
import { dayMs, dayOf, startOfDay } from './days.ts';
import { type RideSums, rideSums } from './ride-sums.ts';

/** Called before each query of the summing. Waits so that requests are not slowed, and throws where the work must end. */
export type Pace = () => Promise<void>;

type Key = Pick<ApiKey, '_id' | 'accountId'>;
type Summed = Pick<RideSums, 'through'>;

/**
 * Sums the rides of one key that were created before `until` (the start of a day), from the rides themselves. Can run twice
 * or at once in two processes: the write holds only while the sums are as they were read. Resolves with how many rides were
 * not in the sums.
 */
export async function sumRidesOf(key: Key, sums: Summed | undefined, until: Date, pace: Pace): Promise<number> {
  if (sums && sums.through >= until) return 0;
  const days = await countByDay(key._id, sums?.through ?? new Date(0), until, pace);
  const all = days.reduce((sum, { count }) => sum + count, 0);
  if (sums) {
    const counts = days.map(({ day, count }) => [`months.${day.slice(0, 7)}.${day.slice(8)}`, count]);
    const change = { $set: { through: until, ...Object.fromEntries(counts) }, $inc: { rides: all } };
    await rideSums.updateOne({ _id: key._id, through: sums.through }, change);
  } else if (all > 0) {
    const months: RideSums['months'] = {};
    for (const { day, count } of days) {
      const month = day.slice(0, 7);
      months[month] = { ...months[month], [day.slice(8)]: count };
    }
    const { _id, accountId } = key;
    await insertOnce(rideSums, { _id, accountId, through: until, rides: all, firstDay: days[0]?.day ?? '', months });
  }
  return all;
}

/** Each day that has rides, one short query after another, whatever number there are. */
async function countByDay(keyId: string, from: Date, until: Date, pace: Pace) {
  const counts: { day: string; count: number }[] = [];
  for (let since = from; ; ) {
    await pace();
    const first = await firstRide(keyId, since, until);
    if (!first) return counts;
    const start = new Date(startOfDay(first.getTime()));
    since = new Date(start.getTime() + dayMs);
    const day = { keyId, createdAt: { $gte: start, $lt: since } };
    counts.push({
      day: dayOf(start),
      count: await rides.countDocuments(day, { hint: createdIndex, ...committedReads() }),
    });
  }
}

async function firstRide(keyId: string, from: Date, until: Date): Promise<Date | undefined> {
  const found = await rides.findOne(
    { keyId, createdAt: { $gte: from, $lt: until } },
    { projection: { _id: 0, createdAt: 1 }, sort: { createdAt: 1 }, hint: createdIndex, ...committedReads() },
  );
  return found?.createdAt;
}
