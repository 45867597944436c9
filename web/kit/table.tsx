import type { ComponentChildren } from 'preact';
import { TableHead } from './blocks.tsx';

/** A column of a table. */
export interface Column<Row> {
  head: string;
  /** The classes of its cells. `line-1 right` is the place on the card of a phone, `small` the look there (table.css). */
  at?: string;
  cell(row: Row): ComponentChildren;
  /** The cards name the column. */
  label?: boolean;
  number?: boolean;
  /** Only screen readers read the head. */
  spoken?: boolean;
}

interface TableProps<Row> {
  /** The label; or `labelledBy`, the id of a heading. */
  label?: string;
  labelledBy?: string;
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  class?: string;
  /** The id of a row's element, with which a script updates the row in its place (patch.ts). */
  idOf?(row: Row): string;
  foot?: ComponentChildren;
}

/** A table with a row for each of `rows`, and on a phone with a card. */
export function Table<Row extends { id: string } | { _id: string }>(props: TableProps<Row>) {
  const { label, labelledBy, columns, rows, class: className = '', idOf, foot } = props;
  const shown = columns.filter((column) => column !== false);
  const heads = shown.map(({ head, spoken }) => (spoken ? <span class="spoken">{head}</span> : head));
  return (
    <table class={`table list cards ${className}`.trim()} aria-label={label} aria-labelledby={labelledBy}>
      <TableHead columns={heads} numbers={heads.filter((_, index) => shown[index]?.number)} />
      <tbody>
        {rows.map((row) => (
          <tr key={'id' in row ? row.id : row._id} id={idOf?.(row)}>
            {shown.map((column) => (
              <td
                key={column.head}
                data-label={column.head}
                class={
                  [column.number && 'number', column.label && 'labelled', column.at].filter(Boolean).join(' ') ||
                  undefined
                }
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      {foot && <tfoot>{foot}</tfoot>}
    </table>
  );
}
