/** Writes the texts of a page in one language. Pure: server and browser share it. */

/** A part of a text as intl-messageformat parses it. The browser has no parser: the page embeds the parts. */
interface Part {
  type: number;
  /** A literal text, or the name of a value. */
  value?: string;
  options?: Record<string, { value: readonly Part[] }>;
}
const types = { literal: 0, number: 2, plural: 6, count: 7 };

export type Message = string | readonly Part[];
export type Messages<Key extends string> = Readonly<Record<Key, Message>>;

export interface Language<Key extends string> {
  /** The language and its region (BCP 47), for `Intl`. */
  locale: string;
  text(key: Key, values?: Readonly<Record<string, string | number>>): string;
}

/** `5.3 km` */
export const kilometersIn = (locale: string, km: number): string =>
  new Intl.NumberFormat(locale, { ...oneDecimal, style: 'unit', unit: 'kilometer' }).format(km);

/** `★ 4.8` */
export const ratingIn = (locale: string, rating: number): string =>
  `★ ${new Intl.NumberFormat(locale, oneDecimal).format(rating)}`;

const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** A language with its texts. */
export function languageOf<Key extends string>(locale: string, messages: Messages<Key>): Language<Key> {
  const numbers = new Intl.NumberFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  const write = (parts: Message, values: Readonly<Record<string, string | number>>, count = 0): string =>
    typeof parts === 'string' ? parts : parts.map((part) => writePart(part, values, count)).join('');
  function writePart({ type, value = '', options }: Part, values: Parameters<typeof write>[1], count: number): string {
    if (type === types.literal) return value;
    if (type === types.count) return numbers.format(count);
    const given = values[value] ?? '';
    if (type === types.number) return numbers.format(Number(given));
    if (!options) return String(given);
    const isPlural = type === types.plural;
    const chosen = options[isPlural ? plurals.select(Number(given)) : given] ?? options.other;
    return write(chosen?.value ?? '', values, isPlural ? Number(given) : count);
  }
  return { locale, text: (key, values = {}) => write(messages[key], values) };
}

/** The direction of a locale's script. */
export const directionOf = (locale: string): 'rtl' | undefined => (/^(ar|he)\b/.test(locale) ? 'rtl' : undefined);
