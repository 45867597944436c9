import { Readable } from 'node:stream';
import { shownLines } from '../base/shown-text.ts';
import { placeText } from '../rides/place-text.ts';
import type { TripFacts, TripLine } from './trips.ts';

/** What a statement shows of its lines but does not store: names by key id, and facts of the trips by ride id. */
export interface LineDetails {
  /** True for roles that see the places of a trip. */
  hasPlaces: boolean;
  keyNames: ReadonlyMap<string, string>;
  trips: ReadonlyMap<string, TripFacts>;
}

type DetailsOf = (lines: readonly TripLine[]) => Promise<LineDetails>;

/** `spreadsheet`: for people, who open the file in Excel and the like. `plain`: for programs. */
export type CsvForm = 'spreadsheet' | 'plain';

/**
 * A statement as a stream of CSV (RFC 4180, UTF-8): a row for each trip. The first rows are read before this resolves,
 * so that a failure can still be answered with an error page.
 *
 * The form `spreadsheet` begins with a byte order mark, without which Excel reads another charset. In it, a text that a
 * spreadsheet would run as a formula or change into a number or a date begins with an apostrophe. The form `plain` has
 * every text as it was sent.
 */
export async function statementCsv(
  lines: AsyncGenerator<TripLine[]>,
  detailsOf: DetailsOf,
  form: CsvForm = 'spreadsheet',
): Promise<Readable> {
  const first = await lines.next();
  const firstLines = first.done ? [] : first.value;
  const firstDetails = await detailsOf(firstLines);
  // Byte mode only bounds the memory; the text is the same.
  // Stryker disable next-line ObjectLiteral,BooleanLiteral
  return Readable.from(rows(firstLines, firstDetails, lines, detailsOf, form), { objectMode: false });
}

/** New columns are added at the end, because partners read the others by their position. */
const columns = ['Ride ID', 'Ended (UTC)', 'Key ID', 'Key name', 'Agreed price (USD)', 'Reference'];
const placeColumns = ['From', 'To'];

async function* rows(
  first: readonly TripLine[],
  firstDetails: LineDetails,
  rest: AsyncGenerator<TripLine[]>,
  detailsOf: DetailsOf,
  form: CsvForm,
) {
  const rowsOf = (lines: readonly TripLine[], details: LineDetails) =>
    lines.map((line) => rowOf(line, details, form)).join('');
  const head = csvRow([...columns, ...(firstDetails.hasPlaces ? placeColumns : [])]);
  yield (form === 'spreadsheet' ? '\ufeff' : '') + head + rowsOf(first, firstDetails);
  for await (const lines of rest) yield rowsOf(lines, await detailsOf(lines));
}

function rowOf(
  { rideId, endedAt, keyId, cents }: TripLine,
  { keyNames, trips, hasPlaces }: LineDetails,
  form: CsvForm,
): string {
  const trip = trips.get(rideId);
  const given = (text = '') => (form === 'spreadsheet' ? guarded(text) : text);
  const places = trip ? [placeText(trip.pickup), placeText(trip.destination)] : ['', ''];
  return csvRow([
    ...[rideId, endedAt.toISOString(), keyId, given(keyNames.get(keyId)), (cents / 100).toFixed(2)],
    ...[given(trip?.reference), ...(hasPlaces ? places.map(given) : [])],
  ]);
}

/** One row of CSV (RFC 4180) with its line end. */
const csvRow = (cells: readonly string[]): string =>
  `${cells.map((text) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\r\n`;

/**
 * A text that partners choose (a key's name, a reference, an address), with an apostrophe before what a spreadsheet
 * would run or change. It may also split cells at semicolons or tabs and ignore the quotes, so every possible start of a
 * cell is protected.
 */
export function guarded(typed: string): string {
  const text = shownLines(typed);
  const safe = text.replaceAll(formulaStart, "'");
  const isChanged = !/^(?:0|[1-9]\d{0,10})?$/.test(text) && changedTexts.some((pattern) => pattern.test(text.trim()));
  return isChanged && safe === text ? `'${text}` : safe;
}

/** Before a sign (or its full-width form) where a cell may start, and before a leading tab or line break. */
const formulaStart = /(?=[=+\-@＝＋－＠])(?<=(?:^|[;\t\r\n])"*)|^(?=[\t\r])/g;

/** Texts that a spreadsheet reads as another value. */
const changedTexts: readonly RegExp[] = [
  // Numbers, dates and times: `00123`, `1.50`, `1E5`, `50 %`, `$5`, `3-4`, `7/11`, `10:30 pm`. A date with the name of a
  // month: `Mar 1`, `1-Sept`.
  /^[$€£]?[.,]?\d+(?:[.,:/\s-]\d+)*[.,]?(?:e[+-]?\d+)?\s?(?:%|[ap]m?|[$€£])?$/i,
  /^(?:\d{1,4}[\s./-]*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\s.,/-]*(?:\d{1,4}[\s.,/-]*){0,2}$/i,
  /^(?:true|false)$/i,
];
