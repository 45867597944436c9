import type { Pace } from './turns.ts';

/** The methods of a MongoDB collection that a walk needs. */
export interface ReadableCollection {
  find(filter: object, options: object): { toArray(): Promise<unknown[]> };
}

/** Small pages keep MongoDB's replies small, and a stop waits for at most one page. */
const pageSize = 250;

/**
 * The cursor of a walk: before the first document of the index, after the last one, or after the document with this key
 * and id.
 */
export type WalkCursor = 'front' | 'end' | { key: unknown; id: string };

/** A walk along an index whose first field is a time, the oldest document first. */
export interface Walk<D extends { _id: string }> {
  collection: ReadableCollection;
  by: 'nextDueAt' | 'biddingOpensAt' | 'unsettledSince' | 'dueAt' | 'statusAt';
  filter: object;
  projection: object;
  /**
   * The walk visits the documents up to this time, or all of them if it is null. A document without a time counts as
   * the oldest.
   */
  until: Date | null;
  /**
   * The walk also visits the documents whose time is ahead of MongoDB's clock, because the clock was set back. This
   * returns true for such a time.
   */
  isAhead?(key: Date): boolean;
  /** Resolves with the number of these documents for which there was something to do. */
  visit(documents: readonly D[]): Promise<number>;
}

interface Bounds {
  /** The walk ends after this many documents for which there was nothing to do. */
  maxIdle: number;
  /** Called before each page. If it resolves with false, the walk ends. */
  mayContinue(): Promise<boolean>;
  /** Called after each page. */
  onProgress?(cursor: WalkCursor): void;
}

/** Visits the documents after a cursor, page by page, up to the end of the index or until a bound is reached. */
export async function walk<D extends { _id: string }>(along: Walk<D>, from: WalkCursor, bounds: Bounds): Promise<void> {
  let cursor = from;
  let idle = 0;
  while (cursor !== 'end' && idle < bounds.maxIdle && (await bounds.mayContinue())) {
    const { page, isLast } = await readPage(along, cursor);
    const visited = page.filter((document) => isDue(along, keyOf(along, document)));
    idle += visited.length - (await along.visit(visited));
    const last = page.at(-1);
    const isAtEnd = isLast || !last || visited.length < page.length;
    cursor = isAtEnd ? 'end' : { key: keyOf(along, last), id: last._id };
    bounds.onProgress?.(cursor);
  }
}

async function readPage<D extends { _id: string }>(
  { collection, by, filter, projection }: Walk<D>,
  cursor: WalkCursor,
): Promise<{ page: D[]; isLast: boolean }> {
  const index = { [by]: 1, _id: 1 } as const;
  const after = typeof cursor === 'object' && cursor;
  const start = after && { min: { [by]: after.key, _id: after.id } };
  // A query with `min` also returns the document at the cursor itself, which is dropped below.
  const limit = pageSize + (after ? 1 : 0);
  // The whole page comes in one batch, because the second batch of a MongoDB cursor may be as large as 16 MB.
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
  /** Reads only ids after this one. */
  after?: string;
  /** Reads only ids before this one. */
  before?: string;
  pageSize: number;
  projection: object;
  /** A time limit or a read concern. */
  options: object;
}

/** Reads the documents of a collection in the order of their ids, page by page, at a pace. Yields no empty page. */
export async function* pagesById<D extends { _id: string }>(
  collection: ReadableCollection,
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
