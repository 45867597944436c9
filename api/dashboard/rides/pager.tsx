import { addressOf, type FilterValues } from './filters.tsx';

/** The way through a list that is newest first. `last` is the last entry's id, where older ones follow. */
export function Pager({
  path,
  values,
  after,
  last,
}: {
  path: string;
  values: FilterValues;
  after?: string;
  last?: string;
}) {
  if (!after && !last) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {after && (
        <a class="btn second" href={addressOf(path, values)}>
          Newest
        </a>
      )}
      {last && (
        <a class="btn second" href={addressOf(path, values, { after: last })} rel="next">
          Older
        </a>
      )}
    </nav>
  );
}
