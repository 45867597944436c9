import type { Mode } from '../base/terms.ts';
import { listKeyRides } from '../rides/list-rides.ts';
import type { Ride } from '../rides/ride-types.ts';
import { dayMs, dayOf, daysBetween, endOfMonth, monthOf, startOfDay, startOfMonth, summableUntil } from './days.ts';
import { countRides } from './ride-sums.ts';
import { allLines, closedMonthsOf } from './statements.ts';
import { lineOf, type TripLine } from './trips.ts';

/** A key whose rides are summed. */
interface StatementKey {
  keyId: string;
  accountId: string;
  mode: Mode;
}

/** The month of a statement. `closed`: no further trips are added to it. */
export interface StatementMonth {
  month: string;
  closed: boolean;
}

/** The statement of a test key has at most this many trips, the newest of the month. */
const mostTestTrips = 1_000;
/** A ride ends at most this long after its creation. */
const longestRideMs = 40 * dayMs;

/** The months from the first ride of a key to the present one, newest first. */
export async function statementMonths(key: StatementKey, nowMs: number): Promise<StatementMonth[]> {
  const counts = await countRides(key.accountId, [key.keyId], [], () => {});
  const { firstDay = dayOf(new Date(nowMs)) } = counts.get(key.keyId) ?? {};
  const days = daysBetween(startOfMonth(firstDay.slice(0, 7)), new Date(startOfDay(nowMs) + dayMs));
  const months = [...new Set(days.map((day) => day.slice(0, 7)))].reverse();
  const isClosed = await closedMonths(key, nowMs);
  return months.map((month) => ({ month, closed: isClosed(month) }));
}

/** A test key's month closes an hour after its end, and a live key's month with the statement of its account. */
export async function closedMonths({ accountId, mode }: StatementKey, nowMs: number) {
  if (mode === 'live') return closedMonthsOf(accountId, nowMs);
  return (month: string): boolean => endOfMonth(month) <= summableUntil(nowMs);
}

/** The completed trips of a key in a month, by their ends, in chunks. Of a live key: its lines of the statement. */
export async function* keyLines(key: StatementKey, month: string): AsyncGenerator<TripLine[]> {
  if (key.mode === 'test') return yield await testLines(key, month);
  for await (const lines of allLines(key.accountId, month)) yield lines.filter(({ keyId }) => keyId === key.keyId);
}

/**
 * The trips of a key in a month that follow a trip in their order, at most `limit`, with the number and the sum of all
 * its trips in the month.
 */
export async function statementPage(
  key: StatementKey,
  month: string,
  limit: number,
  after: Pick<TripLine, 'endedAt' | 'rideId'>,
) {
  const page: TripLine[] = [];
  let [trips, cents] = [0, 0];
  for await (const lines of keyLines(key, month)) {
    for (const line of lines) {
      trips += 1;
      cents += line.cents;
      if (page.length <= limit && isAfter(line, after)) page.push(line);
    }
  }
  return { trips, cents, lines: page.slice(0, limit), hasMore: page.length > limit };
}

function isAfter(line: TripLine, after: Pick<TripLine, 'endedAt' | 'rideId'>): boolean {
  const difference = line.endedAt.getTime() - after.endedAt.getTime();
  return difference > 0 || (difference === 0 && line.rideId > after.rideId);
}

type TestTrip = Pick<Ride, '_id' | 'statusAt' | 'agreedPrice'>;

async function testLines({ keyId }: StatementKey, month: string): Promise<TripLine[]> {
  const [from, to] = [startOfMonth(month).getTime(), endOfMonth(month).getTime()];
  const { rides } = await listKeyRides<TestTrip>(
    keyId,
    { status: 'completed', from: from - longestRideMs, to },
    { limit: mostTestTrips, projection: { statusAt: 1, agreedPrice: 1 } },
  );
  return rides
    .map((ride) => lineOf({ ...ride, keyId }))
    .filter(({ endedAt }) => monthOf(endedAt) === month)
    .reverse()
    .sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
}

/** The rides that were created with a key on each day of [from, to), oldest first. */
export async function keyUsage({ keyId, accountId }: StatementKey, from: Date, to: Date) {
  const days = daysBetween(from, to);
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const counts = await countRides(accountId, [keyId], months, () => {});
  return days.map((day) => ({ day, rides: counts.get(keyId)?.byDay.get(day) ?? 0 }));
}
