/** The state of a board, as its page receives it. No server imports: the browser uses this file too. */
export interface BoardState {
  /** The key whose rides these are; for a desk without a key, its account. A page never mixes the rides of two. */
  of: string;
  /** Unix ms, by MongoDB's clock. */
  now: number;
  /** The rows of the board in order: the id of the element, and a stamp that changes with its content. */
  order: readonly (readonly [id: string, stamp: string])[];
  /** The number of rides that need a person. */
  concerns: number;
  /** The summary, and the rows that may be new to the reader. A row that the reader lacks is requested with `?rows`. */
  html: string;
}
