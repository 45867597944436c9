import type { Pace } from './turns.ts';

/** The part of a collection that is needed to read it page by page. */
export interface Readable {
  find(filter: object, options: object): { toArray(): Promise<unknown[]> };
}

/** Small pages keep MongoDB's answers small, and a stop waits for one page at most. */
const pageSize = 250;

/** The position of a walk: before the first document of the index, after its last one, or after this one. */
export type Position = 'front' | 'end' | { key: unknown; id: string };

/** A walk along an index whose first field is a time, the oldest document first. */
export interface Walk<D extends { _id: string }> {
  collection: Readable;
  by: 'nextDueAt' | 'unsettledSince' | 'dueAt' | 'statusAt';
  filter: object;
  projection: object;
  /** Visits the documents up to this time, or all if null. One without a time counts as old. */
  until: Date | null;
  /** Visits a document whose time can only be the time of before MongoDB's clock was set back. */
  isAhead?(key: Date): boolean;
  /** Resolves with how many of these had something to do. */
  visit(documents: readonly D[]): Promise<number>;
}

interface Bounds {
  /** The walk ends after this many documents that had nothing to do. */
  maxIdle: number;
  /** Called before each page. False ends the walk. */
  mayGoOn(): Promise<boolean>;
  /** Called after each page. */
  onProgress?(position: Position): void;
}

/** Visits documents after a position, page by page, to the end of the index or until a bound is reached. */
export async function walk<D extends { _id: string }>(along: Walk<D>, from: Position, bounds: Bounds): Promise<void> {
  let position = from;
  let idle = 0;
  while (position !== 'end' && idle < bounds.maxIdle && (await bounds.mayGoOn())) {
    const { page, isLast } = await readPage(along, position);
    const visited = page.filter((document) => isDue(along, keyOf(along, document)));
    idle += visited.length - (await along.visit(visited));
    const last = page.at(-1);
    const isAtEnd = isLast || !last || visited.length < page.length;
    position = isAtEnd ? 'end' : { key: keyOf(along, last), id: last._id };
    bounds.onProgress?.(position);
  }
}

async function readPage<D extends { _id: string }>(
  { collection, by, filter, projection }: Walk<D>,
  position: Position,
): Promise<{ page: D[]; isLast: boolean }> {
  const index = { [by]: 1, _id: 1 } as const;
  const after = typeof position === 'object' && position;
  const start = after && { min: { [by]: after.key, _id: after.id } };
  // `min` includes the document at the position itself.
  const limit = pageSize + (after ? 1 : 0);
  // One batch for the whole page: the second batch of a cursor would bring up to 16 MB.
  const size = { limit, batchSize: limit };
  const options = { projection: { ...projection, [by]: 1 }, sort: index, hint: index, ...start, ...size };
  const found = (await collection.find(filter, options).toArray()) as D[];
  const page = after ? found.filter(({ _id }) => _id !== after.id) : found;
  return { page, isLast: found.length < limit };
}

const keyOf = ({ by }: { by: Walk<never>['by'] }, document: object): unknown =>
  (document as Record<string, unknown>)[by] ?? null;

const isDue = ({ until, isAhead }: Pick<Walk<never>, 'until' | 'isAhead'>, key: unknown): boolean =>
  !until || !(key instanceof Date) || key <= until || isAhead?.(key) === true;

interface IdRange {
  /** The ids after this one, or all. */
  after?: string;
  /** The ids before this one, or all. */
  before?: string;
  pageSize: number;
  projection: object;
  /** A time limit or a read concern. */
  options: object;
}

/** The documents of a collection in the order of their ids, page by page, at a pace. No page is empty. */
export async function* pagesById<D extends { _id: string }>(
  collection: Readable,
  { after = '', before, pageSize: limit, projection, options }: IdRange,
  pace: Pace,
): AsyncGenerator<D[]> {
  for (let last: D | undefined; ; ) {
    await pace();
    const ids = { $gt: last?._id ?? after, ...(before !== undefined && { $lt: before }) };
    const size = { limit, batchSize: limit + 1 };
    const page = (await collection
      .find({ _id: ids }, { projection, sort: { _id: 1 }, ...size, ...options })
      .toArray()) as D[];
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (!last || page.length < limit) return;
  }
}
