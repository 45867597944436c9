import { Readable } from 'node:stream';
import type { TripLine } from '../../../shared/usage/trips.ts';
import { csvRow } from './csv.ts';
import { counted } from './words.ts';

type NamesOf = (lines: readonly TripLine[]) => Promise<ReadonlyMap<string, string>>;

/**
 * A statement as CSV: a row for each trip, and a last one with the sum. Sent some rows at a time. The first lines are read
 * before this resolves, so that a failure is still answered with an error page.
 */
export async function statementCsv(lines: AsyncGenerator<TripLine[]>, namesOf: NamesOf): Promise<Readable> {
  const first = await lines.next();
  const firstLines = first.done ? [] : first.value;
  const keyNames = await namesOf(firstLines);
  return Readable.from(rows(firstLines, keyNames, lines, namesOf), { objectMode: false });
}

async function* rows(
  first: readonly TripLine[],
  firstNames: ReadonlyMap<string, string>,
  rest: AsyncGenerator<TripLine[]>,
  namesOf: NamesOf,
) {
  let trips = 0;
  let cents = 0;
  const rowsOf = (lines: readonly TripLine[], keyNames: ReadonlyMap<string, string>) => {
    trips += lines.length;
    for (const line of lines) cents += line.cents;
    return lines.map((line) => rowOf(line, keyNames)).join('');
  };
  yield csvRow(['Ride ID', 'Ended (UTC)', 'Key ID', 'Key name', 'Agreed price (USD)']) + rowsOf(first, firstNames);
  for await (const lines of rest) yield rowsOf(lines, await namesOf(lines));
  yield csvRow(['Sum', '', '', counted(trips, 'trip').replace(',', ''), usdOf(cents)]);
}

const rowOf = ({ rideId, endedAt, keyId, cents }: TripLine, keyNames: ReadonlyMap<string, string>): string =>
  csvRow([rideId, endedAt.toISOString(), keyId, keyNames.get(keyId) ?? '', usdOf(cents)]);

const usdOf = (cents: number): string => (cents / 100).toFixed(2);
