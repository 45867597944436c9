import { IntlMessageFormat } from 'intl-messageformat';
import type { PublicRequest } from './answer.ts';
import { type Language, languageOf, type Message, type Messages } from './message-format.ts';

/** The languages of the pages for passengers and drivers (contract, section 10.23), by their own names. */
export const languageNames = {
  en: 'English',
  es: 'Español',
  fr: 'Français',
  de: 'Deutsch',
  pt: 'Português',
  zh: '中文',
  ar: 'العربية',
  he: 'עברית',
} as const;

type LanguageCode = keyof typeof languageNames;

export type TextsByLanguage<Key extends string> = Readonly<Record<LanguageCode, Readonly<Record<Key, string>>>>;

/** A language with its texts, also as data for the page's script. */
export interface PageLanguage<Key extends string> extends Language<Key> {
  messages: Messages<Key>;
}

/** Finds the language of a locale that `localeFor` has chosen. The texts of each language are parsed once. */
export function pageLanguages<Key extends string>(texts: TextsByLanguage<Key>): (locale: string) => PageLanguage<Key> {
  const parsed = new Map<string, Messages<Key>>();
  return (locale) => {
    const code = codeOf(locale);
    const messages = parsed.get(code) ?? parse(texts[code], code);
    parsed.set(code, messages);
    return { messages, ...languageOf(locale, messages) };
  };
}

function parse<Key extends string>(texts: Readonly<Record<Key, string>>, code: string): Messages<Key> {
  const parsed = Object.entries<string>(texts).map(([key, text]) => {
    const parts = partsOf(new IntlMessageFormat(text, code).getAst() as Element[]);
    return [key, parts.length === 1 && typeof parts[0] === 'string' ? text : parts];
  });
  return Object.fromEntries(parsed) as Messages<Key>;
}

/** An element of a text, as intl-messageformat parses it. */
interface Element {
  type: number;
  value: string;
  options: Record<string, { value: Element[] }>;
}
const types = { literal: 0, number: 2, select: 5, plural: 6, count: 7 };

const partsOf = (elements: readonly Element[]): Exclude<Message, string> =>
  elements.map(({ type, value, options }) => {
    if (type === types.literal) return value;
    if (type === types.count) return [];
    if (type === types.number) return [value, 'number'];
    if (type !== types.select && type !== types.plural) return [value];
    const forms = Object.entries(options).map(([form, { value }]) => [form, partsOf(value)]);
    return [value, type === types.plural ? 'plural' : 'select', Object.fromEntries(forms)];
  });

/** The texts that the page's script writes, too: all except those of `page.`. */
export const scriptTexts = <Key extends string>({ messages }: PageLanguage<Key>): object =>
  Object.fromEntries(Object.entries(messages).filter(([key]) => !key.startsWith('page.')));

/**
 * The locale of a page: the language that the reader chose (`?lang=`), else their own one (BCP 47) if it is known, else
 * the first one that their browser accepts, else English. A known region decides the form of times and numbers.
 */
export function localeFor({ query, header }: Pick<PublicRequest, 'query' | 'header'>, own = ''): string {
  const known = [own, ...acceptedTags(header('accept-language'))].flatMap(shownLocale);
  const chosen = query('lang');
  return isLanguage(chosen) ? (known.find((locale) => codeOf(locale) === chosen) ?? chosen) : (known[0] ?? 'en');
}

/** The tags of an `Accept-Language`, the most wanted first. */
const acceptedTags = (header: string): string[] =>
  header
    .split(',')
    .map((part) => part.split(/\s*;\s*q=/))
    .map(([tag = '', quality = '1']) => ({ tag: tag.trim(), quality: Number(quality) }))
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);

/** A tag's language and region, if there are texts in this language. Chinese is always written in simplified characters. */
function shownLocale(tag: string): string[] {
  const [found] = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(?![a-z\d])/i.exec(tag) ?? [];
  const locale = found && new Intl.Locale(found);
  if (!locale || !isLanguage(locale.language)) return [];
  return [locale.language === 'zh' ? new Intl.Locale(locale, { script: 'Hans' }).toString() : locale.toString()];
}

export const isLanguage = (code: string): code is LanguageCode => Object.hasOwn(languageNames, code);

/** The language of a locale that `localeFor` has chosen. */
export const codeOf = (locale: string): LanguageCode => locale.slice(0, 2) as LanguageCode;
