import type mongoose from 'mongoose';
import { mails } from '../mail/mail-row.ts';
import { keys } from './api-key.ts';

/** A field that holds ciphertexts (keys/encryption.ts). An index on it finds those of a certain key. */
export interface SecretStore {
  collection: mongoose.mongo.Collection<StoredSecret>;
  field: string;
  /** What the field holds, for a message to the operator. */
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

/** Every place where ciphertexts are stored. Checked at each start, and encrypted again by `keys rekey`. */
export const secretStores: readonly SecretStore[] = [
  store(keys, 'signingSecret', 'signing secret'),
  store(mails, 'sealed', 'text'),
];
