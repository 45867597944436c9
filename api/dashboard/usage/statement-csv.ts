import { Readable } from 'node:stream';
import type { TripLine } from '../../../shared/usage/trips.ts';
import { counted } from '../facts.tsx';

type NamesOf = (lines: readonly TripLine[]) => Promise<ReadonlyMap<string, string>>;

/**
 * A statement as a stream of CSV: a row for each trip, and a last row with the sum. The first rows are read before this
 * resolves, so that a failure can still be answered with an error page.
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

/**
 * One row of CSV (RFC 4180) with its line end. Partners choose the names of keys, and a spreadsheet runs a cell that
 * begins with a sign as a formula, so the sign gets an apostrophe in front. A spreadsheet may also split cells at
 * semicolons or tabs and ignore the quotes, so every possible start of a cell is protected. The numbers here never form
 * formulas.
 */
export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const safe = text.replaceAll(formulaStart, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Matches before a sign (or its full-width form) at a possible start of a cell, and before a leading tab or line break.
 */
const formulaStart = /(?=[=+\-@＝＋－＠])(?<=(?:^|[;\t\r\n])"*)|^(?=[\t\r])/g;
