import { centsOf } from '../base/cents.ts';
import { findAll, findAmong } from '../base/mongo/collection.ts';
import { committedReads, timeLimit } from '../base/mongo/durability.ts';
import { completedTrips, rides, tripIndex } from '../rides/ride.ts';
import type { Ride } from '../rides/ride-types.ts';
import { endOfMonth, monthOf } from './days.ts';

/** A completed live trip, as a line of a statement. */
export interface TripLine {
  rideId: string;
  endedAt: Date;
  keyId: string;
  /** The agreed price, in cents of a US dollar. */
  cents: number;
}

/** The half-open interval [from, to). */
interface TimeSpan {
  from: Date;
  to: Date;
}

type TripEntry = Pick<Ride, '_id' | 'statusAt' | 'keyId' | 'agreedPrice'>;

/**
 * The completed live trips of an account that ended in a time span, ordered by their ends, in pages. Each query reads
 * one page, only from the index. Awaits `beforePage` before each query.
 */
export async function* tripPages(
  accountId: string,
  { from, to }: TimeSpan,
  pageSize: number,
  beforePage: () => Promise<void> = async () => {},
): AsyncGenerator<TripLine[]> {
  /** The trips that ended at the latest time read so far. The next query starts at that time and finds them again. */
  let seen = new Set<string>();
  for (let since = from; since < to; ) {
    await beforePage();
    const limit = pageSize + seen.size;
    const found = await findTrips(accountId, { from: since, to, limit });
    const page = found.filter(({ rideId }) => !seen.has(rideId));
    if (page.length > 0) yield page;
    const last = found.at(-1);
    if (!last || found.length < limit) return;
    since = last.endedAt;
    seen = new Set(found.filter(({ endedAt }) => endedAt.getTime() === since.getTime()).map(({ rideId }) => rideId));
  }
}

interface TripRange extends TimeSpan {
  skip?: number;
  limit: number;
}

/** The completed live trips of an account in a range, ordered by their ends. One query, only from the index. */
export async function findTrips(accountId: string, { from, to, skip = 0, limit }: TripRange): Promise<TripLine[]> {
  const filter = { accountId, ...completedTrips, statusAt: { $gte: from, $lt: to } };
  const found = await findAll<Ride, TripEntry>(rides, filter, {
    projection: { _id: 1, statusAt: 1, keyId: 1, agreedPrice: 1 },
    sort: { statusAt: 1, _id: 1 },
    hint: tripIndex,
    skip,
    limit,
    ...committedReads(),
  });
  return found.map(lineOf);
}

export function lineOf({ _id, statusAt, keyId, agreedPrice = 0 }: TripEntry): TripLine {
  return { rideId: _id, endedAt: statusAt, keyId, cents: centsOf(agreedPrice) };
}

/** A number of trips and their total price. */
export interface TripTotal {
  trips: number;
  cents: number;
}

const farFuture = new Date('9999-12-31');

/** The completed live trips of an account since a time, by month (`2026-11`): one index query for each. */
export async function totalsSince(accountId: string, from: Date): Promise<Map<string, TripTotal>> {
  const totals = new Map<string, TripTotal>();
  for (let since = from; ; ) {
    const [first] = await findTrips(accountId, { from: since, to: farFuture, limit: 1 });
    if (!first) return totals;
    const month = monthOf(first.endedAt);
    const end = endOfMonth(month);
    totals.set(month, await totalBetween(accountId, { from: first.endedAt, to: end }));
    since = end;
  }
}

async function totalBetween(accountId: string, { from, to }: TimeSpan): Promise<TripTotal> {
  // Groups by price, so that each trip is rounded to cents like its line on the statement.
  const groups = await rides
    .aggregate<{ _id: number | null; trips: number }>(
      [
        { $match: { accountId, ...completedTrips, statusAt: { $gte: from, $lt: to } } },
        { $group: { _id: '$agreedPrice', trips: { $sum: 1 } } },
      ],
      { hint: tripIndex, ...timeLimit() },
    )
    .toArray();
  return sumOf(groups.map(({ _id: price, trips }) => ({ trips, cents: trips * centsOf(price ?? 0) })));
}

export const noTrips: TripTotal = { trips: 0, cents: 0 };

export const sumOf = (totals: readonly (TripTotal | undefined)[]): TripTotal =>
  totals.reduce<TripTotal>(
    (sum, total = noTrips) => ({ trips: sum.trips + total.trips, cents: sum.cents + total.cents }),
    noTrips,
  );

/** The facts of a trip that a statement shows but does not store: they are personal data, which retention erases. */
export type TripFacts = Pick<Ride, 'reference' | 'pickup' | 'destination'>;

/** The facts of an account's trips by ride id, in one query by ids. Erased, deleted and foreign rides are missing. */
export async function tripFacts(
  rideIds: readonly string[],
  { accountId }: { accountId: string },
): Promise<Map<string, TripFacts>> {
  const fields = { reference: 1, pickup: 1, destination: 1 };
  const filter = { accountId, erasedAt: { $exists: false } };
  const found = await findAmong(rides, rideIds, fields, filter, committedReads());
  return new Map(found.map(({ _id, ...facts }) => [_id, facts]));
}
