import { Readable } from 'node:stream';
import type { TripLine } from '../../../shared/usage/trips.ts';
import { csvRow } from './csv.ts';
import { counted } from './words.ts';

/**
 * A statement as CSV: a row for each trip, and a last one with the sum. Sent some rows at a time. The first lines are read
 * before this resolves, so that a failure is still answered with an error page.
 */
export async function statementCsv(
  lines: AsyncGenerator<TripLine[]>,
  keyNames: ReadonlyMap<string, string>,
): Promise<Readable> {
  const first = await lines.next();
  return Readable.from(rows(first.done ? [] : first.value, lines, keyNames), { objectMode: false });
}

async function* rows(
  first: readonly TripLine[],
  rest: AsyncGenerator<TripLine[]>,
  keyNames: ReadonlyMap<string, string>,
) {
  let trips = 0;
  let cents = 0;
  const rowsOf = (lines: readonly TripLine[]) => {
    trips += lines.length;
    for (const line of lines) cents += line.cents;
    return lines.map((line) => rowOf(line, keyNames)).join('');
  };
  yield csvRow(['Ride ID', 'Ended (UTC)', 'Key ID', 'Key name', 'Agreed price (USD)']) + rowsOf(first);
  for await (const lines of rest) yield rowsOf(lines);
  yield csvRow(['Sum', '', '', counted(trips, 'trip').replace(',', ''), usdOf(cents)]);
}

const rowOf = ({ rideId, endedAt, keyId, cents }: TripLine, keyNames: ReadonlyMap<string, string>): string =>
  csvRow([rideId, endedAt.toISOString(), keyId, keyNames.get(keyId) ?? '', usdOf(cents)]);

const usdOf = (cents: number): string => (cents / 100).toFixed(2);
