/** Rows as RFC 4180 wants them. Pure. */

/**
 * One row, its line end included. A text that a spreadsheet would run as a formula gets a leading apostrophe: names are
 * typed by partners. Numbers are given as numbers of a fixed form, so none is taken for a formula.
 */
export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
