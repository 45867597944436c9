import { IntlMessageFormat } from 'intl-messageformat';
import { arabic } from './languages/arabic.ts';
import { chinese } from './languages/chinese.ts';
import { english, type Texts } from './languages/english.ts';
import { french } from './languages/french.ts';
import { german } from './languages/german.ts';
import { hebrew } from './languages/hebrew.ts';
import { portuguese } from './languages/portuguese.ts';
import { spanish } from './languages/spanish.ts';
import type { MessageKind } from './message-kinds.ts';

/** What a text can name. A value that a text does not need may be missing. */
export interface TextValues {
  /** The account's name, at the start of every text; empty without one. */
  sender: string;
  /** For whom the ride is; in texts to contacts. Empty if the partner named nobody. */
  passenger: string;
  /** The driver's first name. */
  driver?: string;
  vehicle?: string;
  plate?: string;
  /** Minutes until the car is at the pickup. */
  minutes?: number;
  /** The time of the pickup of a ride for later. */
  pickupAt?: Date;
  /** The time zone of the pickup, and the present time. */
  zone: string;
  now: Date;
  link: string;
}

/** The texts by language (BCP 47). The documentation lists these languages. */
export const languages: Readonly<Record<string, Texts>> = {
  en: english,
  es: spanish,
  fr: french,
  de: german,
  pt: portuguese,
  zh: chinese,
  ar: arabic,
  he: hebrew,
};

const formats = new Map<string, IntlMessageFormat>();

/** The text of a message in the language of a locale (BCP 47); in English for a language without texts. Pure. */
export function textOf(
  kind: MessageKind,
  to: 'passenger' | 'contact',
  locale: string | undefined,
  { sender, ...values }: TextValues,
): string {
  const shown = shownLocale(locale);
  // A driver who was found late, or who serves a ride that replaces another one, may come after the pickup time.
  const comesAt = values.now.getTime() + (values.minutes ?? 0) * 60_000;
  const isLater = kind === 'found' && values.pickupAt && values.pickupAt.getTime() >= comesAt;
  const key = `${to}.${isLater ? 'foundLater' : kind}`;
  const pattern = languages[new Intl.Locale(shown).language]?.[key as keyof Texts] ?? '';
  const format = formats.get(shown + key) ?? new IntlMessageFormat(pattern, shown);
  if (formats.size < mostFormats) formats.set(shown + key, format);
  const written = format.format({
    ...values,
    isNamed: values.passenger ? 'yes' : 'no',
    time: values.pickupAt && timeText(values.pickupAt, values, shown),
  });
  // Some regions write `p.m.`, before the full stop of a sentence.
  const text = String(written).replaceAll('.. ', '. ');
  const start = rightToLeft.has(new Intl.Locale(shown).language) ? '\u200f' : '';
  return start + (sender ? `${sender}: ${text}` : text);
}

/** Their texts begin with a mark of the direction, because the sender's name may be in Latin letters. */
const rightToLeft: ReadonlySet<string> = new Set(['ar', 'he']);

/** A partner can name any region of a language, so there may be many locales. */
const mostFormats = 1_000;

/** The locale itself if there are texts in its language, else American English. Chinese has simplified characters. */
function shownLocale(locale = 'en-US'): string {
  const { language } = new Intl.Locale(locale);
  if (language === 'zh') return new Intl.Locale(locale, { script: 'Hans' }).toString();
  return languages[language] ? locale : 'en-US';
}

/** `7:30 AM`, with the day unless it is today at the pickup. */
function timeText(at: Date, { zone: timeZone, now }: Pick<TextValues, 'zone' | 'now'>, locale: string): string {
  const dayOf = (date: Date) => new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(date);
  const day = dayOf(at) !== dayOf(now) && ({ weekday: 'short', month: 'short', day: 'numeric' } as const);
  return new Intl.DateTimeFormat(locale, { timeZone, hour: 'numeric', minute: '2-digit', ...day }).format(at);
}
