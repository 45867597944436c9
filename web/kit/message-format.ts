/** Writes the texts of a page in one language. Pure: server and browser share it. */

/**
 * A part of a text, parsed by the server: the text itself, `[name]` of a value, `[name, 'number']`, `[]` for the count of
 * a plural, or the texts of a plural or a choice by form.
 */
type Part =
  | string
  | readonly []
  | readonly [name: string]
  | readonly [name: string, kind: 'number' | 'plural' | 'select', forms?: Readonly<Record<string, Message>>];

export type Message = string | readonly Part[];
export type Messages<Key extends string> = Readonly<Record<Key, Message>>;

type Values = Readonly<Record<string, string | number>>;

export interface Language<Key extends string> {
  /** The language and its region (BCP 47), for `Intl`. */
  locale: string;
  text(key: Key, values?: Values): string;
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
  const write = (message: Message, values: Values, count = 0): string =>
    typeof message === 'string' ? message : message.map((part) => writePart(part, values, count)).join('');
  function writePart(part: Part, values: Values, count: number): string {
    if (typeof part === 'string') return part;
    const [name, kind, forms] = part;
    if (name === undefined) return numbers.format(count);
    const given = values[name] ?? '';
    if (kind === 'number') return numbers.format(Number(given));
    if (!forms) return String(given);
    const isPlural = kind === 'plural';
    const form = isPlural ? plurals.select(Number(given)) : given;
    return write(forms[form] ?? forms.other ?? '', values, isPlural ? Number(given) : count);
  }
  return { locale, text: (key, values = {}) => write(messages[key], values) };
}

/** The direction of a locale's script. */
export const directionOf = (locale: string): 'rtl' | undefined => (/^(ar|he)\b/.test(locale) ? 'rtl' : undefined);
