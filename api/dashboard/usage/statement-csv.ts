import { Readable } from 'node:stream';
import type { TripFacts } from '../../../shared/usage/trip-facts.ts';
import type { TripLine } from '../../../shared/usage/trips.ts';
import { counted, placeText } from '../facts.tsx';

/** What a statement shows of its lines but does not store: names by key id, and facts of the trips by ride id. */
export interface LineDetails {
  /** True for roles that see the places of a trip. */
  hasPlaces: boolean;
  keyNames: ReadonlyMap<string, string>;
  trips: ReadonlyMap<string, TripFacts>;
}

type DetailsOf = (lines: readonly TripLine[]) => Promise<LineDetails>;

/**
 * A statement as a stream of CSV: a row for each trip, and a last row with the sum. The first rows are read before this
 * resolves, so that a failure can still be answered with an error page.
 */
export async function statementCsv(lines: AsyncGenerator<TripLine[]>, detailsOf: DetailsOf): Promise<Readable> {
  const first = await lines.next();
  const firstLines = first.done ? [] : first.value;
  const firstDetails = await detailsOf(firstLines);
  // Byte mode only bounds the memory; the text is the same.
  // Stryker disable next-line ObjectLiteral,BooleanLiteral
  return Readable.from(rows(firstLines, firstDetails, lines, detailsOf), { objectMode: false });
}

/** New columns are added at the end, because partners read the others by their position. */
const columns = ['Ride ID', 'Ended (UTC)', 'Key ID', 'Key name', 'Agreed price (USD)', 'Reference'];
const placeColumns = ['From', 'To'];

async function* rows(
  first: readonly TripLine[],
  firstDetails: LineDetails,
  rest: AsyncGenerator<TripLine[]>,
  detailsOf: DetailsOf,
) {
  let trips = 0;
  let cents = 0;
  const rowsOf = (lines: readonly TripLine[], details: LineDetails) => {
    trips += lines.length;
    for (const line of lines) cents += line.cents;
    return lines.map((line) => rowOf(line, details)).join('');
  };
  const { hasPlaces } = firstDetails;
  yield csvRow([...columns, ...(hasPlaces ? placeColumns : [])]) + rowsOf(first, firstDetails);
  for await (const lines of rest) yield rowsOf(lines, await detailsOf(lines));
  yield csvRow([
    'Sum',
    '',
    '',
    counted(trips, 'trip').replace(',', ''),
    usdOf(cents),
    '',
    ...(hasPlaces ? ['', ''] : []),
  ]);
}

function rowOf({ rideId, endedAt, keyId, cents }: TripLine, { keyNames, trips, hasPlaces }: LineDetails): string {
  const trip = trips.get(rideId);
  const stored = [rideId, endedAt.toISOString(), keyId, keyNames.get(keyId) ?? '', usdOf(cents)];
  const places = trip ? [placeText(trip.pickup), placeText(trip.destination)] : ['', ''];
  return csvRow([...stored, trip?.reference ?? '', ...(hasPlaces ? places : [])]);
}

const usdOf = (cents: number): string => (cents / 100).toFixed(2);

/**
 * One row of CSV (RFC 4180) with its line end. Partners choose the names of keys, references and addresses, and a
 * spreadsheet runs a cell that begins with a sign as a formula, so the sign gets an apostrophe in front. A spreadsheet
 * may also split cells at semicolons or tabs and ignore the quotes, so every possible start of a cell is protected. The
 * numbers here never form formulas.
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
