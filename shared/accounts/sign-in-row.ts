import mongoose from 'mongoose';
import { collection } from '../base/mongo/collection.ts';

/** The sign-in of a browser, for the address for which the browser last requested a code. */
export interface SignIn {
  /** SHA-256 of the browser's token. */
  _id: string;
  email: string;
  /** The code. Only the last one of the list is valid: an earlier version stored several. */
  codes: { mac: string; tries: number; expiresAt: Date }[];
  /**
   * The code and the link are derived from these seeds, the browser's token and SECRETS_KEY, so a repeated mail
   * contains the same code and link.
   */
  codeSeed?: string;
  linkSeed?: string;
  /** The ids of the counted tries of this code. */
  tried?: string[];
  /** The page to show after sign-in. */
  next?: string;
  /** The form that signed in. If the form is sent again, it completes missing steps; every other form is refused. */
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
