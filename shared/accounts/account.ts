import mongoose from 'mongoose';
import { newAccountId } from '../ids.ts';

export interface Account {
  _id: string;
  email: string;
  createdAt: Date;
}

const accountSchema = new mongoose.Schema<Account>(
  { _id: String, email: { type: String, required: true }, createdAt: { type: Date, required: true } },
  { versionKey: false, autoIndex: false },
);
accountSchema.index({ email: 1 }, { unique: true });

export const AccountModel = mongoose.model<Account>('Account', accountSchema);

/** Owns the keys that are made on the command line without naming an account. */
export const operatorEmail = 'operator@localhost';

/** The account of an e-mail address, made at the first use. */
export async function accountOf(email: string): Promise<Account> {
  return AccountModel.findOneAndUpdate(
    { email: email.trim().toLowerCase() },
    { $setOnInsert: { _id: newAccountId(), createdAt: new Date() } },
    { upsert: true, returnDocument: 'after', lean: true },
  ).orFail() as unknown as Promise<Account>;
}
