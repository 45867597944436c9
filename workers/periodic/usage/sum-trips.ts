import { insertOnce } from '../../../shared/base/mongo/collection.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { dayOf, endOfMonth, monthOf, startOfMonth } from '../../../shared/usage/days.ts';
import { linesPerPart, statementParts, type TripSums, tripSums } from '../../../shared/usage/trip-sums.ts';
import { noTrips, sumOf, type TripTotal, tripPages } from '../../../shared/usage/trips.ts';
import type { Pace } from '../turns.ts';

const pageSize = 1_000;

type StoredSums = Pick<TripSums, 'through' | 'closedThrough'>;

/**
 * Sums the completed live trips of an account that ended before `until` (the start of a day). Like `sumRidesOf`, it is
 * idempotent and may run in two processes at the same time.
 */
export async function sumTripsOf(
  accountId: string,
  sums: StoredSums | undefined,
  until: Date,
  pace: Pace,
): Promise<void> {
  if (sums && sums.through >= until) return;
  const days = new Map<string, TripTotal>();
  for await (const lines of tripPages(accountId, { from: sums?.through ?? new Date(0), to: until }, pageSize, pace)) {
    for (const { endedAt, cents } of lines) {
      const day = dayOf(endedAt);
      days.set(day, sumOf([days.get(day), { trips: 1, cents }]));
    }
  }
  if (sums) {
    const totals = [...days].map(([day, total]) => [`months.${day.slice(0, 7)}.${day.slice(8)}`, total]);
    const change = { $set: { through: until, ...Object.fromEntries(totals) } };
    await tripSums.updateOne({ _id: accountId, through: sums.through }, change);
  } else if (days.size > 0) {
    const months: TripSums['months'] = {};
    for (const [day, total] of days) {
      const month = day.slice(0, 7);
      months[month] = { ...months[month], [day.slice(8)]: total };
    }
    await insertOnce(tripSums, { _id: accountId, through: until, months });
  }
}

/**
 * Closes the months of an account that end by `until`, if all their trips are summed: stores the lines of each month,
 * and then its total. A closed month never changes. Before it is closed, its lines can be stored again without harm.
 * `known` is an earlier read of the sums. Resolves with the number of closed months.
 */
export async function closeMonths(
  accountId: string,
  known: StoredSums | undefined,
  until: Date,
  pace: Pace,
): Promise<number> {
  const closedThrough = startOfMonth(monthOf(until));
  if (known?.closedThrough && known.closedThrough >= closedThrough) return 0;
  await pace();
  const sums = await tripSums.findOne({ _id: accountId, through: { $gte: until } }, committedReads());
  if (!sums) return 0;
  const open = Object.keys(sums.months).filter((month) => endOfMonth(month) <= until && !sums.statements?.[month]);
  for (const month of open.sort()) await closeMonth(accountId, month, pace);
  await tripSums.updateOne({ _id: accountId }, { $max: { closedThrough } });
  return open.length;
}

async function closeMonth(accountId: string, month: string, pace: Pace): Promise<void> {
  let total = noTrips;
  let parts = 0;
  const span = { from: startOfMonth(month), to: endOfMonth(month) };
  for await (const lines of tripPages(accountId, span, linesPerPart, pace)) {
    parts += 1;
    await statementParts.replaceOne({ _id: { accountId, month, part: parts } }, { lines }, { upsert: true });
    total = sumOf([total, ...lines.map(({ cents }) => ({ trips: 1, cents }))]);
  }
  const isOpen = { _id: accountId, [`statements.${month}`]: { $exists: false } };
  await tripSums.updateOne(isOpen, { $set: { [`statements.${month}`]: { ...total, parts } } });
}
