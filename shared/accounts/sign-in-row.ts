import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';

/** The sign-in of a browser, with the address for which it last requested a code. */
export interface SignIn {
  /** SHA-256 of the browser's token. */
  _id: string;
  email: string;
  /** The current code. An earlier version stored several; only the last one is valid. */
  codes: { mac: string; tries: number; expiresAt: Date }[];
  /**
   * The code and link are derived from these, the browser's token and SECRETS_KEY: a repeated mail has the same ones.
   */
  codeSeed?: string;
  linkSeed?: string;
  /** The ids of the counted tries of this code. */
  tried?: string[];
  /** The page to show after sign-in. */
  next?: string;
  /** The form that signed in. If it is sent again, it completes missing steps; every other form is refused. */
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
