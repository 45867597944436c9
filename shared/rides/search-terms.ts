import anyAscii from 'any-ascii';
import { callableNumber } from '../base/call-url.ts';
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
 * `20332`. A phone number is found by
 * its digits, with and without its country. Scripts without blanks give pieces of two characters.
 */
export function searchTermsOf(ride: Pick<RideRequest, 'reference' | 'passenger' | 'pickup' | 'destination'>): string[] {
  const { reference, passenger, pickup, destination } = ride;
  const terms = [
    ...termsIn(reference),
    ...numbersIn(reference).flatMap(phoneTerms),
    ...termsIn(passenger?.name),
    ...phoneTerms(passenger?.phone),
    ...termsIn(pickup.address),
    ...termsIn(destination.address),
  ];
  return [...new Set(terms.filter(Boolean))].slice(0, mostTerms);
}

/** The terms that a ride must have to match a typed text; none if the text has no letter and no digit. */
export function searchWords(typed: string): string[] {
  const text = folded(typed).trim();
  const words = isPhone(text)
    ? [searchedPhone(text)]
    : chunksOf(typed).flatMap((chunk) => pieces(chunk) ?? [squeezed(chunk)]);
  return [...new Set(words.filter(Boolean))].slice(0, mostWords);
}

/** True for a text that is searched as a phone number. */
const isPhone = (text: string): boolean =>
  /^[+(][\d\s().-]+$/.test(text) || (/^[\d\s().-]+$/.test(text) && text.replace(/\D/g, '').length >= 7);

/** A reference, or a word of it, that is searched as a phone number is: `0012345`, `415 2233`. */
const numbersIn = (reference = ''): string[] => [folded(reference).trim(), ...chunksOf(reference)].filter(isPhone);

/** The digits under which a phone number is found: as it was typed, with its country, and without. */
function phoneTerms(phone = ''): string[] {
  const number = callableNumber(phone);
  return number ? [number.number.slice(1), number.nationalNumber] : [withoutZeros(squeezed(phone))];
}

const searchedPhone = (text: string): string => callableNumber(text)?.number.slice(1) ?? withoutZeros(squeezed(text));

/** The zeros before a number depend on where it is dialled. */
const withoutZeros = (digits: string): string => (/^\d+$/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : digits);

/** A run of a script that writes no blanks between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]{2,}/gu;

/** The pieces of two characters of such runs, with the other parts of the chunk; undefined for a chunk without them. */
function pieces(chunk: string): string[] | undefined {
  const runs = chunk.match(unspaced);
  if (!runs) return undefined;
  const pairs = runs.flatMap((run) => {
    const characters = [...run];
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  });
  return [...pairs, ...partsOf(chunk.replace(unspaced, ' '))];
}

/** A text without case, accents, spaces and punctuation. */
export const squeezed = (text = ''): string => partsOf(folded(text)).join('').slice(0, maxLength);

const termsIn = (text = ''): string[] =>
  chunksOf(text).flatMap(
    (chunk) => pieces(chunk) ?? [squeezed(chunk), ...partsOf(chunk).map((part) => part.slice(0, maxLength))],
  );

// Stryker disable Regex: the callers drop the empty words between two separators
const chunksOf = (text: string): string[] => folded(text).split(/\s+/);
const partsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u);
// Stryker restore Regex

/**
 * NFKD separates letters from their accents, which are then removed. Letters that Latin scripts have of their own (`ł`,
 * `ø`, `ß`, `ı`) and digits become those of ASCII. Upper case first, as in `foldedName`.
 */
const folded = (text: string): string =>
  isPlain(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        // Stryker disable next-line Regex: one by one, all accents are removed too
        .replace(/\p{M}+/gu, '')
        .replace(/[\p{Script=Latin}\p{Nd}]+/gu, anyAscii)
        .toUpperCase()
        .toLowerCase();

/** Most texts are plain ASCII. Each of them is folded several times. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);
