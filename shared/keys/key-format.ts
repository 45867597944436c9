import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '../ids.ts';
import type { Mode } from '../mode.ts';

const secretLength = 32;
const checksumLength = 6;
const keyForm = new RegExp(`^svc_(live|test)_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

const checksum = (text: string): string => toBase62(crc32(text), checksumLength);

/** A new secret API key of a mode (contract, section 5.2): 190 random bits and a checksum. */
export function newApiKey(mode: Mode): string {
  const body = `svc_${mode}_${randomBase62(secretLength)}`;
  return body + checksum(body);
}

/** Whether a text can be a key at all: one with a typing error is refused without asking the database. Pure. */
export function isWellFormedKey(text: string): boolean {
  return keyForm.test(text) && text.slice(-checksumLength) === checksum(text.slice(0, -checksumLength));
}

/** What may be shown of a key to tell it from others: its mode and last characters, which are its checksum. */
export const keyHint = (key: string): string => `${key.slice(0, 9)}...${key.slice(-4)}`;

/** A new webhook signing secret (contract, section 5.9): 190 random bits. */
export const newSigningSecret = (): string => `whsec_${randomBase62(32)}`;
