import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';

/** All but `waiting` are final. `kept`: a development stack without a mail server shows the mail. */
export type MailState = 'waiting' | 'sent' | 'failed' | 'kept';

/** A mail. MongoDB, not the queue, decides which mails are pending; a job only contains the id. */
export interface MailRow {
  _id: string;
  state: MailState;
  /** Recipient, subject and text, encrypted for this record. Erased once the mail is sent or has failed. */
  sealed?: string;
  createdAt: Date;
  /** For a waiting mail: the time of the next try. */
  dueAt?: Date;
  /** Set at the first try. A try that fails after this time is the last one. */
  triedUntil?: Date;
  /** The claim of the run that is sending the mail. No other run sends it before `until`. */
  claim?: { token: string; until: Date };
  finishedAt?: Date;
  /** For a finished mail: the time at which this row is deleted. */
  expiresAt?: Date;
  /** The reason for the failure: a code, because the mail server's own text may name the recipient. */
  reason?: string;
}

const mailSchema = recordSchema();
mailSchema.index({ dueAt: 1, _id: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
mailSchema.index({ expiresAt: 1 });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds the ciphertexts of a key (secret-stores.ts).
mailSchema.index({ sealed: 1 }, { sparse: true });

export const MailModel = mongoose.model<MailRow>('Mail', mailSchema, 'mails');
export const mails = collection<MailRow>(MailModel);
