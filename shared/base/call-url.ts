import anyAscii from 'any-ascii';
import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** National numbers are short or long; what is shorter may be a room, an extension or an emergency call. */
const national = /^\(?\d[\d\s().-]*?(?:\s*(?:,|#|;?ext[.=]?|x)\s*(\d{1,7}))?$/i;
const nationalDigits = { least: 5, most: 15 };

/**
 * The `tel:` URL that calls the first number in a text that a person typed, or undefined if there is none that can be
 * dialled with certainty. A number with its country (`+`, `00`) is called in the form of E.164. A number without one is
 * called as it is, because its country is unknown. A pause precedes the extension: phones read `;ext=` as keys.
 */
export function callUrl(phone: string): string | undefined {
  const text = asciiLine(phone);
  if (!countryMark.test(text)) return nationalUrl(text);
  const number = numberWithCountry(text);
  return number && urlOf(number.number, number.ext);
}

/** The first number in a text that has its country and can be dialled, or undefined. */
export function callableNumber(phone: string): PhoneNumber | undefined {
  return numberWithCountry(asciiLine(phone));
}

const asciiLine = (phone: string): string =>
  phone
    .replaceAll(/\p{Nd}/gu, anyAscii)
    .replaceAll(/\r?\n/g, ' / ')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();

const countryMark = /(?:\+|＋|^\(?00(?=[1-9]))/;

function numberWithCountry(text: string): PhoneNumber | undefined {
  const start = countryMark.exec(text);
  if (!start) return undefined;
  // Another number may follow, with its country or after a separator, but some people write a separator in a number.
  const [all = ''] = `+${text.slice(start.index + start[0].length)}`.split(/(?<=\d.*?)[+＋]/);
  // Both are mostly the same text, which takes a while to parse.
  const texts = new Set([firstOf(all).trim(), all.trim()]);
  const found = [...texts].map((each) => parsePhoneNumberFromString(each));
  return found.find((each) => each?.isValid()) ?? found.find((each) => each?.isPossible());
}

function nationalUrl(text: string): string | undefined {
  for (const each of [firstOf(text), text.replaceAll('/', ' ')]) {
    const found = national.exec(each.trim());
    const extension = found?.[1];
    const digits = (extension ? each.slice(0, each.lastIndexOf(extension)) : each).replaceAll(/\D/g, '');
    if (found && digits.length >= nationalDigits.least && digits.length <= nationalDigits.most) {
      return urlOf(digits, extension);
    }
  }
  return undefined;
}

const urlOf = (number: string, extension?: string): string => `tel:${number}${extension ? `,${extension}` : ''}`;

const firstOf = (text: string): string => text.split(/[/|]|;(?!\s*ext)|\s(?:or|oder|ou|o|and)\s/i)[0] ?? '';
