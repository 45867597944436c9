import type mongoose from 'mongoose';
import { namedPrefix, prefixOf, type SecretsKeys } from '../base/encryption.ts';
import { mails } from '../mail/mail-row.ts';
import { messages } from '../messages/message-row.ts';
import { numberKeys } from '../messages/numbers.ts';
import { keys } from './api-key.ts';
import { endpoints } from './endpoints.ts';

/** A field that contains ciphertexts (base/encryption.ts). An index on it finds the ciphertexts of a SECRETS_KEY. */
export interface SecretStore {
  collection: mongoose.mongo.Collection<StoredSecret>;
  field: string;
  /** The content of the field, for a message to the operator. */
  what: string;
}

export interface StoredSecret {
  _id: string;
  [field: string]: unknown;
}

const store = (collection: unknown, field: string, what: string): SecretStore => ({
  collection: collection as SecretStore['collection'],
  field,
  what,
});

/** All fields with ciphertexts. Each start checks them, and `keys rekey` re-encrypts them. */
export const secretStores: readonly SecretStore[] = [
  store(keys, 'signingSecret', 'signing secret'),
  store(endpoints, 'signingSecret', 'signing secret of endpoint'),
  store(mails, 'sealed', 'text'),
  store(messages, 'sealed', 'text'),
  store(numberKeys, 'sealed', 'key of'),
];

/**
 * A query for the stored ciphertexts of a SECRETS_KEY. A ciphertext starts with its key's id, so a query scans a few
 * ranges of the field's index and costs the same for ten records and for a million.
 */
type Query = mongoose.mongo.Filter<StoredSecret>;

/** The ciphertexts that use a key other than the first. */
export const encryptedWithOlderKeys = ({ field }: SecretStore, [first]: SecretsKeys): Query => ({
  $or: [{ [field]: { $lt: prefixOf(first) } }, { [field]: { $gte: endOfPrefix(prefixOf(first)) } }],
});

/** The ciphertexts whose key is not listed. They are the ranges of the index between the listed keys. */
export function encryptedWithMissingKeys({ field }: SecretStore, secretsKeys: SecretsKeys): Query {
  const listed = secretsKeys.map(prefixOf).sort();
  const starts = [namedPrefix, ...listed.map(endOfPrefix)];
  const ends = [...listed, endOfPrefix(namedPrefix)];
  return { $or: starts.map((start, index) => ({ [field]: { $gte: start, $lt: ends[index] } })) };
}

/** The first text after all texts with this prefix, which ends with a colon: `;` is the next character. */
const endOfPrefix = (prefix: string): string => `${prefix.slice(0, -1)};`;

/** The ciphertext in a found record. */
export const ciphertextOf = ({ field }: SecretStore, found: StoredSecret): string => String(found[field]);
