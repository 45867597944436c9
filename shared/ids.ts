import { hash, randomBytes } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A uniformly random base62 string: about 5.95 bits a character. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first digits.
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** A number in base62, padded on the left, so that texts of one width sort as the numbers do. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text;
  return text.padStart(width, '0');
}

/** Begins with the time: new rides then land side by side in the index, however many there are. */
export function newRideId(nowMs: number): string {
  return `ride_${toBase62(nowMs, 8)}${randomBase62(16)}`;
}

export const newOfferId = (): string => `offer_${randomBase62(16)}`;
export const newKeyId = (): string => `key_${randomBase62(14)}`;
export const newAccountId = (): string => `acct_${randomBase62(14)}`;
/** About 131 bits: the tracking page needs no key, so its address must not be guessable. */
export const newTrackToken = (): string => randomBase62(22);

/** The same event has the same id at a second attempt, because it follows from the ride and the event's number. */
export function eventId(rideId: string, seq: number): string {
  return `evt_${rideId.replace(/^ride_/, '')}_${seq}`;
}

export const sha256 = (text: string): string => hash('sha256', text);
