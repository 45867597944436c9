import { insertOnce } from '../../../shared/base/mongo/collection.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import { countCreations, createdIndex, rides } from '../../../shared/rides/ride.ts';
import { dayMs, dayOf, dayOfMonth, monthOf } from '../../../shared/usage/days.ts';
import { type RideSums, rideSums } from '../../../shared/usage/ride-sums.ts';
import type { Pace } from '../turns.ts';

interface DayCount {
  /** The start of the day. */
  day: Date;
  count: number;
}

type Key = Pick<ApiKey, '_id' | 'accountId'>;
type StoredSums = Pick<RideSums, 'through'>;

/**
 * Adds the rides of one key that were created before `until` (the start of a day) to its sums. Idempotent: the write
 * succeeds only if the sums are unchanged since they were read, so two processes may run this at the same time.
 * Resolves with the number of added rides.
 */
export async function sumRidesOf(key: Key, sums: StoredSums | undefined, until: Date, pace: Pace): Promise<number> {
  if (sums && sums.through >= until) return 0;
  const days = await countByDay(key._id, { from: sums?.through ?? new Date(0), until }, pace);
  const [first] = days;
  const all = days.reduce((sum, { count }) => sum + count, 0);
  if (sums) {
    const counts = days.map(({ day, count }) => [`months.${monthOf(day)}.${dayOfMonth(day)}`, count]);
    const change = { $set: { through: until, ...Object.fromEntries(counts) }, $inc: { rides: all } };
    await rideSums.updateOne({ _id: key._id, through: sums.through }, change);
  } else if (first) {
    const months: RideSums['months'] = {};
    for (const { day, count } of days) {
      months[monthOf(day)] = { ...months[monthOf(day)], [dayOfMonth(day)]: count };
    }
    const { _id, accountId } = key;
    await insertOnce(rideSums, { _id, accountId, through: until, rides: all, firstDay: dayOf(first.day), months });
  }
  return all;
}

/**
 * Counts the rides of one key per day, from the start of one day to the start of another. Days without rides are left
 * out. Each query counts at most `atOnce` rides, or the rides of one day, so that it stays short.
 */
export async function countByDay(
  keyId: string,
  { from, until }: { from: Date; until: Date },
  pace: Pace,
  atOnce = 20_000,
): Promise<DayCount[]> {
  const counts: DayCount[] = [];
  for (let since = from; ; ) {
    await pace();
    const { days, isComplete } = await countSome(keyId, since, until, atOnce);
    if (isComplete) return [...counts, ...days.filter(hasCreations)];
    // The query reached its limit, so the last of these days may be incomplete.
    const last = days.pop() as DayCount;
    counts.push(...days.filter(hasCreations));
    since = last.day;
    if (days.length > 0) continue;
    await pace();
    const next = new Date(last.day.getTime() + dayMs);
    const { days: whole } = await countSome(keyId, since, next);
    counts.push(...whole.filter(hasCreations));
    since = next;
  }
}

const hasCreations = ({ count }: DayCount): boolean => count > 0;

/** Counts the creations among the first `limit` rides in [from, until), by day. */
async function countSome(
  keyId: string,
  from: Date,
  until: Date,
  limit?: number,
): Promise<{ days: DayCount[]; isComplete: boolean }> {
  const day = { $dateTrunc: { date: '$createdAt', unit: 'day' } } as const;
  const groups = await rides
    .aggregate<{ _id: Date; count: number; read: number }>(
      [
        { $match: { keyId, createdAt: { $gte: from, $lt: until } } },
        ...(limit ? [{ $sort: { createdAt: 1 } }, { $limit: limit }] : []),
        { $group: { _id: day, count: countCreations, read: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ],
      { hint: createdIndex, ...committedReads() },
    )
    .toArray();
  const read = groups.reduce((sum, group) => sum + group.read, 0);
  return { days: groups.map(({ _id, count }) => ({ day: _id, count })), isComplete: !limit || read < limit };
}
