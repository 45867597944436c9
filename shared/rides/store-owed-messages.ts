import { type Account, accounts } from '../accounts/account.ts';
import type { Context } from '../base/context.ts';
import { zoneAt } from '../base/place-zone.ts';
import { type MessageKind, type Person, personsFor } from '../messages/message-kinds.ts';
import { storeMessage } from '../messages/stored-messages.ts';
import { textOf } from '../messages/texts.ts';
import { trackUrl } from './events.ts';
import { fireTimer, type TimerResult } from './fire-timer.ts';
import { readRide } from './read-ride.ts';
import type { RideState } from './ride-types.ts';

/** The longest sender's name, as on the ride services for businesses. */
const senderLength = 26;
const nameLength = 40;

/**
 * Stores the messages that a ride owes, and then fires its timer `message`, whose write removes what is stored. The
 * change of the ride has set the timer and named the messages. Idempotent: the id of a message names the ride, the kind
 * and the person, so a second run stores nothing again. Throws if MongoDB is unavailable.
 */
export async function storeOwedMessages(ctx: Context, rideId: string): Promise<TimerResult> {
  const read = await readRide({ rideId, owner: 'anyone' });
  if (!read?.ride.timers.some(({ name }) => name === 'message')) return { result: 'stale' };
  const { ride, now } = read;
  const owed = ride.messagesOwed ?? [];
  const account = await accounts.findOne({ _id: ride.accountId }, { projection: { name: 1 } });
  for (const { kind, at } of owed) {
    for (const person of personsFor(kind, ride)) {
      const to = recipientOf(ride, person);
      if (!to?.phone) continue;
      const text = textFor(ctx, { ride, account, kind, person, locale: to.locale, now });
      const row = {
        _id: `${rideId}:${kind}:${person}`,
        rideId,
        accountId: ride.accountId,
        kind,
        person,
        createdAt: at,
      };
      await storeMessage(ctx, { ...row, ...(ride.mode === 'test' && { isTest: true }) }, { to: to.phone, text });
    }
  }
  const stored = new Set(owed.map(({ kind }) => kind));
  return fireTimer(ctx, rideId, 'message', ({ messagesOwed = [], timers }, firedAt) => {
    const left = messagesOwed.filter(({ kind }) => !stored.has(kind));
    const others = timers.filter(({ name }) => name !== 'message');
    const again = left.length > 0 ? [{ name: 'message' as const, dueAt: firedAt }] : [];
    return { set: { messagesOwed: left, timers: [...others, ...again] } };
  });
}

/** The passenger or contact; undefined once the ride is erased. */
function recipientOf(
  { passenger, notify }: RideState,
  person: Person,
): { phone?: string; locale?: string } | undefined {
  if (person === 'passenger') return notify?.passenger ? passenger : undefined;
  return notify?.contacts?.[Number(person.at(-1)) - 1];
}

interface Wanted {
  ride: RideState;
  account: Pick<Account, 'name'> | null;
  kind: MessageKind;
  person: Person;
  locale?: string;
  now: Date;
}

function textFor({ config }: Pick<Context, 'config'>, { ride, account, kind, person, locale, now }: Wanted): string {
  const { driver, offers, acceptedOfferId, pickup, pickupAt, passenger } = ride;
  const minutes = offers.find(({ offerId }) => offerId === acceptedOfferId)?.etaMinutes;
  return textOf(kind, person === 'passenger' ? 'passenger' : 'contact', locale, {
    sender: plainName(account?.name, senderLength),
    passenger: plainName(passenger?.name, nameLength),
    ...(driver && {
      // Like the car, the operator has named the driver: no partner writes a link here.
      driver: driver.name.split(/\s/)[0],
      vehicle: driver.vehicle,
      plate: driver.plate,
    }),
    ...(minutes !== undefined && { minutes: Math.max(1, Math.round(minutes)) }),
    ...(pickupAt && { pickupAt }),
    zone: zoneAt(pickup),
    now,
    link: trackUrl(config.trackBaseUrl, ride),
  });
}

/**
 * A name for a text, at most `length` characters. A name with other characters than letters, digits and a few marks, or
 * with a dot inside, might be a link, and nobody may send links of their own through us: it counts as missing.
 */
function plainName(name = '', length: number): string {
  const trimmed = name.replace(/\s+/gu, ' ').trim();
  if (!/^[\p{L}\p{M}\p{N} .,'’&()+-]*$/u.test(trimmed) || /\.[\p{L}\p{N}]/u.test(trimmed)) return '';
  return [...trimmed].slice(0, length).join('').trim();
}
