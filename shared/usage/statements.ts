import { timeLimit } from '../base/mongo/durability.ts';
import { dayMs, endOfMonth, monthOf, startOfMonth, summableUntil } from './days.ts';
import { linesPerPart, statementParts, type TripSums, tripSums } from './trip-sums.ts';
import { findTrips, sumOf, type TripLine, type TripTotal, totalsSince, tripPages } from './trips.ts';

/** The number and price of a month's completed live trips, for which the partner pays (contract, section 1). */
export interface MonthTotal extends TripTotal {
  /** The month, such as `2026-11`. */
  month: string;
  /** True if the month is not closed: more trips may be added. */
  isSoFar: boolean;
}

export interface StatementPage extends MonthTotal {
  /** The number of pages of the statement, at least one. */
  pages: number;
  /** The lines of the page, ordered by the trips' ends. */
  lines: TripLine[];
}

/** The totals of an account's months, newest first: the current month, and all months with trips. */
export async function monthTotals(accountId: string, nowMs: number): Promise<MonthTotal[]> {
  const known = await readTotals(accountId);
  const months = [monthOf(new Date(nowMs)), ...Object.keys(known.sums?.months ?? {}), ...known.unsummed.keys()];
  return [...new Set(months)]
    .sort()
    .reverse()
    .map((month) => totalOf(known, month, nowMs));
}

/** One page of an account's statement of a month; pages count from 1. */
export async function readStatement(
  accountId: string,
  month: string,
  page: number,
  nowMs: number,
): Promise<StatementPage> {
  const known = await readTotals(accountId);
  const total = totalOf(known, month, nowMs);
  const isStored = known.sums?.statements?.[month] !== undefined;
  const lines = isStored ? await storedLines(accountId, month, page) : await openLines(accountId, month, page, known);
  return { ...total, pages: Math.max(1, Math.ceil(total.trips / linesPerPart)), lines };
}

/** Resolves with a function that tells whether a month of an account, with or without trips, gets no further trips. */
export async function closedMonthsOf(accountId: string, nowMs: number): Promise<(month: string) => boolean> {
  const known = await readTotals(accountId);
  return (month) => !totalOf(known, month, nowMs).isSoFar;
}

/** All lines of an account's statement of a month, in chunks, so that a statement of any length can be sent. */
export async function* allLines(accountId: string, month: string): AsyncGenerator<TripLine[]> {
  const sums = await tripSums.findOne({ _id: accountId }, { projection: { statements: 1 }, ...timeLimit() });
  const stored = sums?.statements?.[month];
  if (!stored) return yield* tripPages(accountId, { from: startOfMonth(month), to: endOfMonth(month) }, 1_000);
  for (let part = 1; part <= stored.parts; part++) yield await storedLines(accountId, month, part);
}

interface Totals {
  sums: TripSums | null;
  /** The trips that are not in the sums, by month. */
  unsummed: Map<string, TripTotal>;
}

async function readTotals(accountId: string): Promise<Totals> {
  const sums = await tripSums.findOne({ _id: accountId }, timeLimit());
  return { sums, unsummed: await totalsSince(accountId, sums?.through ?? new Date(0)) };
}

function totalOf({ sums, unsummed }: Totals, month: string, nowMs: number): MonthTotal {
  const closed = sums?.statements?.[month];
  if (closed) return { month, trips: closed.trips, cents: closed.cents, isSoFar: false };
  const total = sumOf([...Object.values(sums?.months[month] ?? {}), unsummed.get(month)]);
  return { month, ...total, isSoFar: total.trips > 0 || endOfMonth(month) > summableUntil(nowMs) };
}

async function storedLines(accountId: string, month: string, part: number): Promise<TripLine[]> {
  const found = await statementParts.findOne({ _id: { accountId, month, part } }, timeLimit());
  return found?.lines ?? [];
}

/** The lines of a month that is not closed. Uses the daily sums to skip whole days without a query. */
async function openLines(accountId: string, month: string, page: number, { sums }: Totals): Promise<TripLine[]> {
  let skip = (page - 1) * linesPerPart;
  let from = startOfMonth(month);
  for (const [day, { trips }] of Object.entries(sums?.months[month] ?? {}).sort()) {
    if (trips > skip) break;
    skip -= trips;
    from = new Date(startOfMonth(month).getTime() + Number(day) * dayMs);
  }
  return findTrips(accountId, { from, to: endOfMonth(month), skip, limit: linesPerPart });
}
