/** The texts to passengers and their contacts. Pure, also for browsers. */

/**
 * In the order in which a ride owes them: a later one makes an earlier one outdated. `booked`: a ride for later was
 * created. `found`: a driver was chosen. `arrived`: the car is at the pickup. `replaced`: the driver cancelled, and
 * another ride replaces this one.
 */
export const messageKinds = ['booked', 'found', 'arrived', 'completed', 'cancelled', 'replaced'] as const;
export type MessageKind = (typeof messageKinds)[number];

/** Who gets a message: the passenger, or one of at most three contacts. */
export const persons = ['passenger', 'contact1', 'contact2', 'contact3'] as const;
export type Person = (typeof persons)[number];
export const maxContacts = persons.length - 1;

/**
 * The kinds that each person can get. The last three exclude each other, so nobody gets more than four messages about a
 * ride: each kind is sent at most once to each person.
 */
const kindsOf = {
  passenger: ['booked', 'found', 'arrived', 'cancelled', 'replaced'],
  contact: ['found', 'completed', 'cancelled', 'replaced'],
} as const satisfies Record<string, readonly MessageKind[]>;

interface Notified {
  notify?: { passenger?: boolean; contacts?: readonly unknown[] };
  driver?: unknown;
  replaces?: string;
}

/**
 * The persons who get a message of this kind. Contacts get the end of a ride only if they were told that a driver was
 * found: of this ride, or of the one that it replaces. Pure.
 */
export function personsFor(kind: MessageKind, { notify, driver, replaces }: Notified): Person[] {
  const [passenger, ...contacts] = persons;
  const isForContacts =
    (kindsOf.contact as readonly MessageKind[]).includes(kind) && (kind === 'found' || driver || replaces);
  return [
    ...(notify?.passenger && (kindsOf.passenger as readonly MessageKind[]).includes(kind) ? [passenger] : []),
    ...(isForContacts ? contacts.slice(0, notify?.contacts?.length ?? 0) : []),
  ];
}

/**
 * The state of a message. `sent`: the provider accepted it. `expired`: it was older than 10 minutes, or a later one to
 * the same person was stored before it could be sent. `opted_out`: the number wants no texts. `limited`: a limit was
 * reached. `kept`: shown and not sent, because the ride is a test ride, or a development stack has no provider.
 */
export const messageStates = [
  'waiting',
  'sent',
  'delivered',
  'failed',
  'expired',
  'opted_out',
  'limited',
  'kept',
] as const;
export type MessageState = (typeof messageStates)[number];
