import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { MessageKind, MessageState, Person } from './message-kinds.ts';

/** A text message. MongoDB, not the queue, decides which messages are pending; a job only contains the id. */
export interface MessageRow {
  /** `rideId:kind:person`, so that a ride's message of a kind is stored at most once for each person. */
  _id: string;
  rideId: string;
  accountId: string;
  kind: MessageKind;
  person: Person;
  state: MessageState;
  /** The message is of a test ride, so it is never sent. */
  isTest?: true;
  /** Number and text, encrypted for this record. Erased with the ride. */
  sealed?: string;
  /** The keyed hash of the number (numbers.ts). Erased with the ride. */
  number?: string;
  /** When the ride changed. The message is not sent later than 10 minutes after this. */
  createdAt: Date;
  /** For a waiting message: the time of the next try. */
  dueAt?: Date;
  /** The claim of the run that is sending the message. No other run sends it before `until`. */
  claim?: { token: string; until: Date };
  /** The provider's id of the message. */
  providerId?: string;
  /** When the message got its state. */
  finishedAt?: Date;
  /** The reason why it was not delivered: a code, because the provider's own text may contain the number. */
  reason?: string;
}

const messageSchema = recordSchema();
messageSchema.index({ dueAt: 1, _id: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } });
messageSchema.index({ rideId: 1 });
// The page of a development stack shows the newest ones.
messageSchema.index({ createdAt: 1 });
// A ciphertext starts with the id of its SECRETS_KEY, so this index finds the ciphertexts of a key (secret-stores.ts).
messageSchema.index({ sealed: 1 }, { sparse: true });

export const MessageModel = mongoose.model<MessageRow>('Message', messageSchema, 'messages');
export const messages = collection<MessageRow>(MessageModel);
