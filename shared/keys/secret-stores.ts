import type mongoose from 'mongoose';
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
