import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '../ids.ts';
import type { Mode } from '../mode.ts';

const secretLength = 32;
const checksumLength = 6;
const keyForm = new RegExp(`^svc_(live|test)_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

const checksum = (text: string): string => toBase62(crc32(text), checksumLength);

/** A new secret API key (contract, section 5.2): the mode's prefix, 190 random bits and a checksum. */
export function newApiKey(mode: Mode): string {
  const body = `svc_${mode}_${randomBase62(secretLength)}`;
  return body + checksum(body);
}

/** Whether a text has the form and checksum of a key: a mistyped key is refused without a database read. Pure. */
export function isWellFormedKey(text: string): boolean {
  return keyForm.test(text) && text.slice(-checksumLength) === checksum(text.slice(0, -checksumLength));
}

/** The part of a key that may be shown: its mode and its last four characters, which belong to the checksum. */
export const keyHint = (key: string): string => `${key.slice(0, 9)}...${key.slice(-4)}`;

/** A new webhook signing secret (contract, section 5.9): 190 random bits. */
export const newSigningSecret = (): string => `whsec_${randomBase62(32)}`;
