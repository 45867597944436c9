import { isolated } from '../shared/base/shown-text.ts';

/** The fields of an answer as lines, each with a label and a value. */
export function labelled(answer: object, labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(answer).map(([field, value]) => {
    const shown = value === null ? 'none' : value === true ? 'yes' : value === false ? 'no' : [value].flat().join(' ');
    return `${(labels[field] ?? field).padEnd(14)}  ${printable(shown)}`;
  });
}

/** Creates a printer: labelled lines, and a last line with the result or the next step. */
export const labelledBy =
  (labels: Readonly<Record<string, string>>) =>
  (lastLine: string) =>
  (answer: object): string[] => [...labelled(answer, labels), lastLine];

/** Pads each column to its widest cell, except the last one. */
export function aligned(rows: string[][]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export const truncate = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, width - 3)}...` : line;

/** A terminal would execute control characters. Other invisible characters become visible. */
export const printable = (text: string): string =>
  isolated(text).replaceAll(/(?![\u2068\u2069\u200c\u200d])\p{C}/gu, '?');
