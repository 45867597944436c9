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

type TextKey = `passenger.${MessageKind | 'foundLater'}` | `contact.${MessageKind | 'foundLater'}` | 'somebody';

/** The texts by key, with placeholders in braces. A key that no person can get has no text. */
const english: Partial<Record<TextKey, string>> = {
  'passenger.booked': 'Your ride is booked for {time}. We text you when a driver is found.',
  'passenger.found': '{driver} picks you up in about {minutes} min: {vehicle}, plate {plate}. Live map: {link}',
  'passenger.foundLater': '{driver} picks you up at {time}: {vehicle}, plate {plate}. Live map: {link}',
  'passenger.arrived': 'Your car is here: {vehicle}, plate {plate}. {link}',
  'passenger.cancelled': 'Your ride was cancelled.',
  'passenger.replaced': 'Your driver cancelled. We are looking for another car and text you when it is found.',
  'contact.found':
    '{driver} picks {passenger} up in about {minutes} min: {vehicle}, plate {plate}. Follow the ride: {link}',
  'contact.foundLater': '{driver} picks {passenger} up at {time}: {vehicle}, plate {plate}. Follow the ride: {link}',
  'contact.completed': 'The ride of {passenger} has ended at its destination.',
  'contact.cancelled': 'The ride of {passenger} was cancelled.',
  'contact.replaced': 'The driver of {passenger} cancelled. We are looking for another car.',
  somebody: 'the passenger',
};

/**
 * The text of a message in the language of a locale (BCP 47). There is only English so far: another locale changes only
 * the form of times, if it is an English one. Pure.
 */
export function textOf(
  kind: MessageKind,
  to: 'passenger' | 'contact',
  locale: string | undefined,
  { sender, ...values }: TextValues,
): string {
  const isLater = kind === 'found' && values.pickupAt;
  const pattern = english[`${to}.${isLater ? 'foundLater' : kind}`] ?? '';
  const named: Record<string, unknown> = {
    ...values,
    passenger: values.passenger || english.somebody,
    time: values.pickupAt && timeText(values.pickupAt, values, locale?.startsWith('en') ? locale : 'en-US'),
  };
  const text = pattern.replace(/\{(\w+)\}/g, (_, name) => String(named[name] ?? ''));
  return sender ? `${sender}: ${text}` : text;
}

/** `7:30 AM`, with the day unless it is today at the pickup. */
function timeText(at: Date, { zone: timeZone, now }: Pick<TextValues, 'zone' | 'now'>, locale: string): string {
  const dayOf = (date: Date) => new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(date);
  const day = dayOf(at) !== dayOf(now) && ({ weekday: 'short', month: 'short', day: 'numeric' } as const);
  return new Intl.DateTimeFormat(locale, { timeZone, hour: 'numeric', minute: '2-digit', ...day }).format(at);
}
