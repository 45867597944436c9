import type { RideRequest } from './ride-types.ts';

/** The words under which the dashboard finds a ride (search-rides.ts). Pure. */

/** The rest of a very long address is not searched. Each term costs one index entry. */
const mostTerms = 32;
/** Further words of a search are ignored. Each word costs one read. */
const mostWords = 8;
const maxLength = 40;

/**
 * The search terms of a ride: the words of its reference, passenger and addresses, without case, accents and
 * punctuation. A word with punctuation counts as a whole and in its parts: `RES-20332` gives `res20332`, `res` and
 * `20332`. A phone number is one term.
 */
export function searchTermsOf(ride: Pick<RideRequest, 'reference' | 'passenger' | 'pickup' | 'destination'>): string[] {
  const { reference, passenger, pickup, destination } = ride;
  const terms = [
    ...termsIn(reference),
    ...termsIn(passenger?.name),
    squeezed(passenger?.phone),
    ...termsIn(pickup.address),
    ...termsIn(destination.address),
  ];
  return [...new Set(terms.filter(Boolean))].slice(0, mostTerms);
}

/** The terms that a ride must have to match a typed text; none if the text has no letter and no digit. */
export function searchWords(typed: string): string[] {
  const isPhone = /^[+(][\d\s().-]+$/.test(typed.trim());
  const words = isPhone ? [squeezed(typed)] : chunksOf(typed).map(squeezed);
  return [...new Set(words.filter(Boolean))].slice(0, mostWords);
}

/** A text without case, accents, spaces and punctuation. */
export const squeezed = (text = ''): string => partsOf(folded(text)).join('').slice(0, maxLength);

const termsIn = (text = ''): string[] =>
  chunksOf(text).flatMap((chunk) => [squeezed(chunk), ...partsOf(chunk).map((part) => part.slice(0, maxLength))]);

// Stryker disable Regex: the callers drop the empty words between two separators
const chunksOf = (text: string): string[] => folded(text).split(/\s+/);
const partsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u);
// Stryker restore Regex

/** NFKD separates letters from their accents, which are then removed. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    // Stryker disable next-line Regex: one by one, all accents are removed too
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
