import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';

/**
 * `kept`: a development stack without a mail server shows the mail instead of sending it. The last three are final.
 */
export type MailState = 'waiting' | 'sent' | 'failed' | 'kept';

/** A mail. MongoDB says what is still to be sent; a job only says where to look. */
export interface MailRow {
  _id: string;
  state: MailState;
  /** Recipient, subject and text, encrypted for this record. Erased once the mail is sent or has failed. */
  sealed?: string;
  createdAt: Date;
  /** While it waits: when it is tried next. */
  dueAt?: Date;
  /** From the first try on: a failure after this time is final. */
  triedUntil?: Date;
  /** The run that is sending it, and until when no other run does. */
  claim?: { token: string; until: Date };
  finishedAt?: Date;
  /** From the end on: until when the row is kept. */
  expiresAt?: Date;
  /** Why it failed: a code, never the mail server's own words, which may name the recipient. */
  reason?: string;
}

const mailSchema = new mongoose.Schema<MailRow>(
  {
    _id: String,
    state: { type: String, enum: ['waiting', 'sent', 'failed', 'kept'], required: true },
    sealed: String,
    createdAt: { type: Date, required: true },
    dueAt: Date,
    triedUntil: Date,
    claim: { type: { _id: false, token: String, until: Date }, required: false },
    finishedAt: Date,
    expiresAt: Date,
    reason: String,
  },
  { versionKey: false, autoIndex: false },
);
mailSchema.index({ dueAt: 1, _id: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
mailSchema.index({ expiresAt: 1 });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds those of an older key (stored-secrets.ts).
mailSchema.index({ sealed: 1 }, { sparse: true });

export const MailModel = mongoose.model<MailRow>('Mail', mailSchema, 'mails');
export const mails = collection<MailRow>(MailModel);
