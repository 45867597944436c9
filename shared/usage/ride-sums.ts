import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { countCreations, createdIndex, rides } from '../rides/ride.ts';
import { dayOf } from './days.ts';

/**
 * The number of rides created with one key, by day. One document contains a key's sums and their progress, so that one
 * write changes both. Therefore a ride is either in the sums or counted from the rides, even after a crash.
 */
export interface RideSums {
  /** The key's id. */
  _id: string;
  accountId: string;
  /** The start of a day: rides created before it are in the sums; later rides are counted from the rides. */
  through: Date;
  /** The number of all rides in the sums. */
  rides: number;
  /** The first day with rides (`2026-11-05`). */
  firstDay: string;
  /** The number of rides by month (`2026-11`) and day (`05`), without days that have no rides. */
  months: Record<string, Record<string, number>>;
}

const rideSumsSchema = recordSchema();
rideSumsSchema.index({ accountId: 1 });

export const RideSumsModel = mongoose.model('RideSums', rideSumsSchema, 'ride_sums');
export const rideSums = collection<RideSums>(RideSumsModel);

/** The number of rides of one key: in total, and by day (`2026-11-05`). */
export interface RideCounts {
  all: number;
  /** The first day with rides. */
  firstDay?: string;
  byDay: Map<string, number>;
}

/** One query counts at most this many keys, so that each query is short. */
const keysPerQuery = 50;

/**
 * Counts the rides that were created with these keys of an account: from the sums, and from the rides that are not
 * summed yet. `byDay` contains only the days of these months. Calls `onUnsummed` for each day that had to be counted
 * from the rides.
 */
export async function countRides(
  accountId: string,
  keyIds: readonly string[],
  months: readonly string[],
  onUnsummed: (day: string) => void,
): Promise<Map<string, RideCounts>> {
  const wanted = Object.fromEntries(months.map((month) => [`months.${month}`, 1]));
  const projection = { through: 1, rides: 1, firstDay: 1, ...wanted };
  const found = await rideSums.find({ _id: { $in: [...keyIds] }, accountId }, { projection, ...timeLimit() }).toArray();
  const sums = new Map(found.map((key) => [key._id, key]));
  const counts = new Map(keyIds.map((keyId) => [keyId, countsIn(sums.get(keyId))]));
  for (const { keyId, day, count } of await unsummedRides(keyIds, sums)) {
    const ofKey = counts.get(keyId);
    if (!ofKey) continue;
    ofKey.all += count;
    if (!ofKey.firstDay || day < ofKey.firstDay) ofKey.firstDay = day;
    if (months.includes(day.slice(0, 7))) ofKey.byDay.set(day, count);
    onUnsummed(day);
  }
  return counts;
}

function countsIn(sums: RideSums | undefined): RideCounts {
  const byDay = new Map<string, number>();
  for (const [month, days] of Object.entries(sums?.months ?? {})) {
    for (const [day, count] of Object.entries(days)) byDay.set(`${month}-${day}`, count);
  }
  return { all: sums?.rides ?? 0, firstDay: sums?.firstDay, byDay };
}

interface DayCount {
  keyId: string;
  day: string;
  count: number;
}

/** The rides that are not in the sums, by key and day. */
async function unsummedRides(keyIds: readonly string[], sums: ReadonlyMap<string, RideSums>): Promise<DayCount[]> {
  const summed = keyIds.filter((keyId) => sums.has(keyId));
  const others = keyIds.filter((keyId) => !sums.has(keyId));
  // Usually all keys are summed through the same day. If they are not, the query starts at the earliest of these days,
  // and rides that are already in the sums are skipped below.
  const since = new Date(Math.min(...summed.map((keyId) => sums.get(keyId)?.through.getTime() ?? 0)));
  const batches = [
    ...inBatches(summed).map((batch) => ({ keyId: { $in: batch }, createdAt: { $gte: since } })),
    ...inBatches(others).map((batch) => ({ keyId: { $in: batch } })),
  ];
  const counts: DayCount[] = [];
  for (const filter of batches) {
    const groups = await rides
      .aggregate<{ _id: { keyId: string; day: Date }; count: number }>(
        [
          { $match: filter },
          {
            $group: {
              _id: { keyId: '$keyId', day: { $dateTrunc: { date: '$createdAt', unit: 'day' } } },
              count: countCreations,
            },
          },
        ],
        { hint: createdIndex, ...timeLimit() },
      )
      .toArray();
    for (const { _id, count } of groups) {
      if (count === 0) continue;
      const through = sums.get(_id.keyId)?.through;
      if (!through || _id.day >= through) counts.push({ keyId: _id.keyId, day: dayOf(_id.day), count });
    }
  }
  return counts;
}

function inBatches(keyIds: readonly string[]): string[][] {
  const count = Math.ceil(keyIds.length / keysPerQuery);
  return Array.from({ length: count }, (_, index) => keyIds.slice(index * keysPerQuery, (index + 1) * keysPerQuery));
}
