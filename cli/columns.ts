/** Each field of an answer in a line of its own, after its label. */
export function labelled(answer: object, labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(answer).map(([field, value]) => {
    const shown = value === null ? 'none' : value === true ? 'yes' : value === false ? 'no' : [value].flat().join(' ');
    return `${(labels[field] ?? field).padEnd(14)}  ${printable(shown)}`;
  });
}

/** The printer of an answer as labelled lines, and a last one that says what was done or what to do next. */
export const labelledBy =
  (labels: Readonly<Record<string, string>>) =>
  (lastLine: string) =>
  (answer: object): string[] => [...labelled(answer, labels), lastLine];

/** Each column as wide as its widest cell, the last as it comes. */
export function aligned(rows: string[][]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

export const cut = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, width - 3)}...` : line;

/** A name may hold control characters, which a terminal would obey. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?');
