import { hash, randomBytes } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A uniformly random base62 string, with about 5.95 bits of entropy per character. */
export function randomBase62(length: number): string {
  return derivedBase62(length, () => randomBytes(length * 2));
}

/**
 * A base62 text that is the same for the same source of bytes, and uniform if these are. `bytesOf` gives the bytes of
 * block 0, 1 and so on, as many blocks as are needed.
 */
export function derivedBase62(length: number, bytesOf: (block: number) => Buffer): string {
  let text = '';
  for (let block = 0; text.length < length; block += 1) text += digitsOf(bytesOf(block));
  return text.slice(0, length);
}

/**
 * 248 is the largest multiple of 62 in a byte; larger bytes would make the first digits more likely, and are dropped.
 */
const digitsOf = (bytes: Buffer): string =>
  [...bytes.filter((byte) => byte < 248)].map((byte) => base62[byte % 62]).join('');

/** A number in base62, padded with zeros on the left, so that texts of equal width sort like the numbers. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text;
  return text.padStart(width, '0');
}

/** The inverse of `toBase62`. */
export const fromBase62 = (text: string): number =>
  [...text].reduce((value, digit) => value * 62 + base62.indexOf(digit), 0);

/** Starts with the time, so that new rides are neighbours in the index: inserting stays fast with millions of rides. */
export function newRideId(nowMs: number): string {
  return firstRideId(nowMs) + randomBase62(16);
}

/** Sorts before the id of every ride that is created at this time or later, and after all earlier ones. */
export const firstRideId = (atMs: number): string => `ride_${toBase62(atMs, 8)}`;

export const newOfferId = (): string => `offer_${randomBase62(16)}`;
export const newKeyId = (): string => `key_${randomBase62(14)}`;
export const newDriverId = (): string => `driver_${randomBase62(14)}`;
export const newAccountId = (): string => `acct_${randomBase62(14)}`;
export const newAuditId = (): string => `audit_${randomBase62(16)}`;
/** Starts with the time, so that mails sort by their age. */
export const newMailId = (nowMs: number): string => `mail_${toBase62(nowMs, 8)}${randomBase62(12)}`;
/**
 * The ids of a mail and of an audit entry that a form causes, derived from the form's one-time id and its purpose:
 * sending the form again finds what is there, and adds only what is missing.
 */
export const derivedMailId = (...from: string[]): string => `mail_${sha256(from.join(' ')).slice(0, 40)}`;
export const derivedAuditId = (...from: string[]): string => `audit_${sha256(from.join(' ')).slice(0, 40)}`;
/** The ids of attempts begin with this text from this moment on (Unix ms): they sort by time. */
export const firstAttemptId = (atMs: number): string => `att_${toBase62(atMs, 8)}`;
export const newAttemptId = (atMs: number): string => firstAttemptId(atMs) + randomBase62(14);
/** About 131 bits: the tracking page needs no key, so nobody may guess its address. */
export const newTrackToken = (): string => randomBase62(22);

/** Derived from the ride and the event's number, so that a second attempt of an event sends the same id. */
export function eventId(rideId: string, seq: number): string {
  return `evt_${rideId.replace(/^ride_/, '')}_${seq}`;
}

/** SHA-256 of a UTF-8 text, in hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text);

/**
 * An id that is the same for the same form of the dashboard: an insert with it is made once, however often it is sent.
 */
export const formsKeyId = (form: string): string => `key_${derivedFrom(form, 'key', 14)}`;
export const formsOfferId = (form: string): string => `offer_${derivedFrom(form, 'offer', 16)}`;
const derivedFrom = (form: string, kind: string, length: number): string =>
  derivedBase62(length, (block) => Buffer.from(sha256(`${kind} ${block} ${form}`), 'hex'));
