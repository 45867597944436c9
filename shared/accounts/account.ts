import Joi from 'joi';
import mongoose from 'mongoose';
import { newAccountId } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';

/** A place that an account has saved for its desk. */
export interface Place {
  id: string;
  name: string;
  address?: string;
  lat: number;
  lng: number;
}

export interface Account {
  _id: string;
  email: string;
  createdAt: Date;
  /** The first time that a user of the account opened the test console. */
  consoleSeenAt?: Date;
  /**
   * Set while the operator has suspended the account: its keys are refused and its dashboard is read-only
   * (keys/suspend-account.ts).
   */
  suspendedAt?: Date;
  /** The key with which the desk books (desk.ts). */
  deskKeyId?: string;
  /** The id of the place that is the default pickup. The place may have been removed. */
  defaultPlaceId?: string;
  /** Only in the stored document: a session's account lacks these, because every page reads it. */
  places?: Place[];
  /** The ids of the last forms that changed the desk. */
  deskForms?: string[];
}

const accountSchema = new mongoose.Schema<Account>(
  {
    _id: String,
    email: { type: String, required: true },
    createdAt: { type: Date, required: true },
    consoleSeenAt: Date,
    suspendedAt: Date,
    deskKeyId: String,
    defaultPlaceId: String,
    places: {
      type: [{ _id: false, id: String, name: String, address: String, lat: Number, lng: Number }],
      default: undefined,
    },
    deskForms: { type: [String], default: undefined },
  },
  { versionKey: false, autoIndex: false },
);
accountSchema.index({ email: 1 }, { unique: true });

export const AccountModel = mongoose.model<Account>('Account', accountSchema);

/** The address of the account that owns the keys created on the command line without `--account`. */
export const operatorEmail = 'operator@localhost';

const emailSchema = Joi.string()
  .trim()
  .lowercase()
  .email({ tlds: { allow: false }, minDomainSegments: 2, allowUnicode: false })
  .invalid(operatorEmail)
  .required();

/** Converts a typed e-mail address to lower case. Returns null if it is not valid. */
export function parseEmail(typed: string): string | null {
  const { value, error } = emailSchema.validate(typed);
  return error ? null : value;
}

/**
 * Resolves with the account of an e-mail address. Creates the account if there is none. Upper and lower case count as
 * the same.
 */
export async function accountOf(email: string): Promise<Account> {
  return AccountModel.findOneAndUpdate(
    { email: email.trim().toLowerCase() },
    { $setOnInsert: { _id: newAccountId(), createdAt: await mongoNow() } },
    { upsert: true, returnDocument: 'after', lean: true },
  ).orFail() as unknown as Promise<Account>;
}

/** Records that the account has opened the test console, which is a step of the onboarding checklist. */
export async function noteConsoleSeen({ _id, consoleSeenAt }: Account, nowMs: number): Promise<void> {
  if (!consoleSeenAt) await AccountModel.updateOne({ _id }, { $set: { consoleSeenAt: new Date(nowMs) } });
}
