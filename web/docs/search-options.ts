import type { Options } from 'minisearch';

/** A section of a page. `id` is its path. */
export interface SearchEntry {
  id: string;
  page: string;
  section: string;
  text: string;
}

/** The service creates the index, and the browser loads it with the same options. */
export const searchOptions: Options<SearchEntry> = {
  fields: ['page', 'section', 'text'],
  storeFields: ['page', 'section'],
  // A word of one letter would match the beginning of too many words.
  processTerm: (term) => (term.length < 2 ? null : term.toLowerCase()),
  searchOptions: {
    boost: { page: 3, section: 2 },
    // A page comes before its sections.
    boostDocument: (id) => (String(id).includes('#') ? 1 : 1.5),
    prefix: true,
    fuzzy: 0.15,
    combineWith: 'AND',
  },
};
