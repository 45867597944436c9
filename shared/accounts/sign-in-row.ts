import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';

/** A browser that asks for codes, by the token in its cookie, with the address that it asked for last. */
export interface SignIn {
  /** SHA-256 of the browser's token. */
  _id: string;
  email: string;
  /** The code that can be entered; an earlier version kept several, of which the last counts. */
  codes: { mac: string; tries: number; expiresAt: Date }[];
  /** The code and the link follow from these texts, the browser's token and SECRETS_KEY, so a repeated mail has the same. */
  codeSeed?: string;
  linkSeed?: string;
  /** The tries at this code that are counted, by their ids. */
  tried?: string[];
  /** The page to see after signing in. */
  next?: string;
  /** The form that signed in. Sent again, it completes what is missing; every other form is refused. */
  used?: { formId: string; mac: string; at: Date; isDone?: true };
  expiresAt: Date;
}

const signInSchema = new mongoose.Schema<SignIn>(
  {
    _id: String,
    email: { type: String, required: true },
    codes: { type: [{ _id: false, mac: String, tries: Number, expiresAt: Date }], required: true },
    codeSeed: String,
    linkSeed: String,
    tried: { type: [String], default: undefined },
    next: String,
    used: { type: { _id: false, formId: String, mac: String, at: Date, isDone: Boolean }, required: false },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
signInSchema.index({ expiresAt: 1 });

export const SignInModel = mongoose.model<SignIn>('SignIn', signInSchema, 'signins');
export const signIns = collection<SignIn>(SignInModel);
