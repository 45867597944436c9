/** Rows as RFC 4180 wants them. Pure. */

/**
 * One row, its line end included. Names are typed by partners, and a spreadsheet runs a cell that begins with a sign as a formula: an
 * apostrophe goes before the sign. A spreadsheet may also split cells at semicolons or tabs and ignore the quotes, so each place
 * where a cell could begin then counts. Numbers are given as numbers of a fixed form, so none is taken for a formula.
 */
export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const safe = text.replaceAll(formulaStart, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Before a sign, or its full-width form, with which a cell could begin; and before a tab or line break that begins the text. */
const formulaStart = /(?=[=+\-@＝＋－＠])(?<=(?:^|[;\t\r\n])"*)|^(?=[\t\r])/g;
