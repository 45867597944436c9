import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '../base/ids.ts';
import { withoutInvisible } from '../base/pasted.ts';
import type { Mode } from '../base/terms.ts';

const secretLength = 32;
const checksumLength = 6;
const keyPattern = (kinds: string) => `svc_(${kinds})_[0-9A-Za-z]{${secretLength + checksumLength}}`;
const partnerKeyPattern = new RegExp(`^${keyPattern('live|test')}$`);
const driverKeyPattern = new RegExp(`^${keyPattern('driver')}$`);
const driverKeyInText = new RegExp(keyPattern('driver'));

const checksum = (text: string): string => toBase62(crc32(text), checksumLength);
const hasChecksum = (text: string): boolean => text.slice(-checksumLength) === checksum(text.slice(0, -checksumLength));

function newKey(kind: Mode | 'driver', secret = randomBase62(secretLength)): string {
  const body = `svc_${kind}_${secret}`;
  return body + checksum(body);
}

/** A new secret API key (contract, section 5.2): prefix, 32 base62 characters (190 bits, or given), checksum. */
export const newApiKey = (mode: Mode, secret?: string): string => newKey(mode, secret);

/** A new secret key of a driver, in the format of a partner's key. */
export const newDriverKey = (): string => newKey('driver');

/** True for the format and checksum of a partner's key, so a mistyped key needs no database read. Pure. */
export const isWellFormedKey = (text: string): boolean => partnerKeyPattern.test(text) && hasChecksum(text);

/** True if a text has the format and checksum of a driver's key. No text is both a partner's and a driver's key. */
export const isWellFormedDriverKey = (text: string): boolean => driverKeyPattern.test(text) && hasChecksum(text);

/** The driver's key in a pasted text, or null: some phones copy only whole messages. Pure. */
export function findDriverKey(pasted: string): string | null {
  const [key] = driverKeyInText.exec(withoutInvisible(pasted)) ?? [];
  return key && isWellFormedDriverKey(key) ? key : null;
}

/** The part of a key that may be shown: its prefix and its last four characters, which are part of the checksum. */
export const keyHint = (key: string): string => `${key.slice(0, key.lastIndexOf('_') + 1)}...${key.slice(-4)}`;

/** A new webhook signing secret (contract, section 5.9): 32 base62 characters (190 bits, random unless given). */
export const newSigningSecret = (secret = randomBase62(secretLength)): string => `whsec_${secret}`;
