import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';

/** The sign-in of a browser with the address for which it last requested a code. */
export interface SignIn {
  /** SHA-256 of the browser's token. */
  _id: string;
  email: string;
  /** Removed when the code or the link is used. */
  code?: { mac: string; tries: number; expiresAt: Date };
  /** The code and link follow from these seeds, the browser's token and SECRETS_KEY, so a repeated mail is the same. */
  codeSeed: string;
  linkSeed: string;
  /** The ids of the counted tries of this code. */
  tried: string[];
  /** The page to show after sign-in. */
  next?: string;
  /** The hash of the invitation that the person accepts with this sign-in. */
  invitation?: string;
  /** The form that used the code or link. A repeat of it completes missing steps; other forms are refused. */
  used?: { formId: string; mac: string; at: Date; isDone?: true };
  expiresAt: Date;
}

const signInSchema = recordSchema();
signInSchema.index({ expiresAt: 1 });

export const SignInModel = mongoose.model<SignIn>('SignIn', signInSchema, 'signins');
export const signIns = collection<SignIn>(SignInModel);
