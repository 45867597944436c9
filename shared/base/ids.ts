import { hash, randomBytes, randomInt } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A uniformly random base62 string, with about 5.95 bits of entropy per character. */
export function randomBase62(length: number): string {
  return derivedBase62(length, () => randomBytes(length * 2));
}

/**
 * A base62 string that is derived from a source of bytes, and uniformly distributed if the bytes are. `bytesOf` returns
 * the bytes of block 0, 1 and so on, until there are enough.
 */
export function derivedBase62(length: number, bytesOf: (block: number) => Buffer): string {
  let text = '';
  for (let block = 0; text.length < length; block += 1) text += digitsOf(bytesOf(block));
  return text.slice(0, length);
}

/** Drops bytes from 248 on, the largest multiple of 62 in a byte: they would favour the first characters. */
function digitsOf(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) if (byte < 248) text += base62[byte % 62];
  return text;
}

/** A number in base62, padded with zeros on the left, so that strings of equal width sort like their numbers. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text;
  return text.padStart(width, '0');
}

/** The inverse of `toBase62`. */
export const fromBase62 = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + base62.indexOf(digit), 0);

/** A ride id starts with the time, so new rides are adjacent in the index, and inserts stay fast. */
export function newRideId(nowMs: number): string {
  return firstRideId(nowMs) + randomBase62(16);
}

/** The smallest id of a ride created at this time. The ids of all earlier rides sort before it. */
export const firstRideId = (atMs: number): string => `ride_${toBase62(atMs, 8)}`;

export const newOfferId = (): string => `offer_${randomBase62(16)}`;
export const newKeyId = (): string => `key_${randomBase62(14)}`;
export const newEndpointId = (): string => `endpoint_${randomBase62(14)}`;
export const newDriverId = (): string => `driver_${randomBase62(14)}`;
export const newAccountId = (): string => `acct_${randomBase62(14)}`;
export const newAuditId = (): string => `audit_${randomBase62(16)}`;
/** A mail id starts with the time, so that mails sort by their age. */
export const newMailId = (nowMs: number): string => `mail_${toBase62(nowMs, 8)}${randomBase62(12)}`;
/**
 * The ids of a mail and of an audit entry that a form causes. They are derived from the form id and their purpose, so a
 * form that is sent again adds only what is missing.
 */
export const derivedMailId = (...from: string[]): string => `mail_${sha256(from.join(' ')).slice(0, 40)}`;
export const derivedAuditId = (...from: string[]): string => `audit_${sha256(from.join(' ')).slice(0, 40)}`;
/** The smallest id of an attempt made at this time (Unix ms). Attempt ids start with the time. */
export const firstAttemptId = (atMs: number): string => `att_${toBase62(atMs, 8)}`;
export const newAttemptId = (atMs: number): string => firstAttemptId(atMs) + randomBase62(14);
/**
 * The id of the attempt that sends an event to a further endpoint. It is derived from the event and the endpoint, so
 * that a repeated run inserts no second one. `atMs`: the time of the event.
 */
export const copyAttemptId = (atMs: number, eventId: string, endpointId: string): string =>
  firstAttemptId(atMs) + derivedFrom(`${eventId} ${endpointId}`, 'copy', 14);
/** The token of a tracking page, which needs no key: about 131 bits, so that nobody can guess it. */
export const newTrackToken = (): string => randomBase62(22);
/** The PIN of a passenger: four random digits. */
export const newPin = (): string => String(randomInt(10_000)).padStart(4, '0');

/** The id of an event. It is derived from the ride and the event's number, so every attempt sends the same id. */
export function eventId(rideId: string, seq: number): string {
  return `evt_${rideId.replace(/^ride_/, '')}_${seq}`;
}

/** The id of the event that an offer was withdrawn, which has no number. */
export const withdrawnEventId = (rideId: string, offerId: string): string =>
  `evt_${rideId.replace(/^ride_/, '')}_${offerId}`;

/** SHA-256 of a UTF-8 string, in hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text);

/**
 * The ids of a key, an endpoint, an offer, an invitation, a member and a saved place that a form creates. They are
 * derived from the form id, so a form that is sent again cannot insert a second one.
 */
export const derivedKeyId = (form: string): string => `key_${derivedFrom(form, 'key', 14)}`;
export const derivedEndpointId = (form: string): string => `endpoint_${derivedFrom(form, 'endpoint', 14)}`;
export const derivedOfferId = (form: string): string => `offer_${derivedFrom(form, 'offer', 16)}`;
export const derivedInvitationId = (form: string): string => `invitation_${derivedFrom(form, 'invitation', 14)}`;
export const derivedMemberId = (form: string): string => `member_${derivedFrom(form, 'member', 14)}`;
export const derivedPlaceId = (form: string): string => `place_${derivedFrom(form, 'place', 12)}`;
const derivedFrom = (form: string, kind: string, length: number): string =>
  derivedBase62(length, (block) => Buffer.from(sha256(`${kind} ${block} ${form}`), 'hex'));
