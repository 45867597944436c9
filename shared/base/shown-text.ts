/**
 * The one way from a text that somebody typed to people's eyes: pages, mails, files for spreadsheets, the terminal. The
 * API keeps and returns texts as they were sent. Pure: the browsers' scripts use this file too.
 */

/** Characters that change the direction of the text around them, so that a name can pretend to be another one. */
const bidiControls = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** What `isolated` has put between two invisible characters stays as it is. */
const isolate = `\\u2068(?:[^\\p{Cc}${bidiControls}]|\\u2066[\\d ().+-]*\\u2069)*\\u2069`;
const hidden = new RegExp(`(${isolate})|[${bidiControls}]`, 'gu');
/** A number of several groups, such as a phone number. Its groups are read from left to right, in every script. */
const groupedNumber = /\+?\(?\d[\d ().-]*[ .-][\d ().-]*\d|\+\d+/g;
const control = /[\p{Cc}\u2028\u2029]/gu;
const lineControl = /(?![\n\t\r])[\p{Cc}\u2028\u2029]/gu;
const refused = new RegExp(`[\\p{Cc}\\u2028\\u2029${bidiControls}]`, 'u');

/** Letters that are read from right to left, and digits that take the direction of the text around them. */
const rightToLeft =
  '[\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}\\p{Script=Adlam}\\p{Script=Samaritan}\\p{Script=Mandaic}\\u0660-\\u0669\\u06f0-\\u06f9]';
/** The words of such a script that follow each other, with what is between them, but without other letters. */
const words = new RegExp(`(${isolate}|${rightToLeft}(?:[^\\p{L}\\u2068\\u2069]*${rightToLeft})*\\p{M}*)`, 'u');

/** A text on one line, with spaces for control characters, and without the controls of direction. */
export const shownText = (text: string): string => text.replace(hidden, '$1').replace(control, ' ');

/** Like `shownText`, but keeps line breaks and tabs. */
export const shownLines = (text: string): string => text.replace(hidden, '$1').replace(lineControl, ' ');

/**
 * The parts of a text, of which each second one is read from right to left and must be isolated from the others. In it,
 * the groups of a phone number keep their order.
 */
export const partsByDirection = (text: string): string[] =>
  text
    .split(words)
    .map((part, index) =>
      index % 2 === 1 && !part.startsWith('\u2068') ? part.replace(groupedNumber, '\u2066$&\u2069') : part,
    );

/**
 * Like `shownText`, for a text without elements. Words that are read from right to left are put between two invisible
 * characters, so that the order of the text around them stays: the text form of `<bdi>`.
 */
export const isolated = (text: string): string =>
  partsByDirection(shownText(text))
    .map((part, index) => (index % 2 === 1 && !part.startsWith('\u2068') ? `\u2068${part}\u2069` : part))
    .join('');

/** Code with invisible characters as the escapes of JSON and JavaScript, which mean the same and can be seen. */
export const shownCode = (text: string): string =>
  text.replace(
    new RegExp(`(?![\\n\\t\\r])[\\p{Cc}${bidiControls}]`, 'gu'),
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Why our own forms and commands refuse a text, as the end of a sentence; undefined if it has no such character. */
export function characterFault(text: string): string | undefined {
  const [found] = refused.exec(text) ?? [];
  if (found === undefined) return undefined;
  const name = `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `must not contain the invisible character ${name}`;
}
