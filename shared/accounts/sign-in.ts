import { randomInt } from 'node:crypto';
import Joi from 'joi';
import mongoose from 'mongoose';
import type { Config } from '../config.ts';
import { sha256 } from '../ids.ts';
import { operatorEmail } from './account.ts';
import { isMacOf, macOf } from './derived-keys.ts';
import { type Limit, type Taken, take } from './limit.ts';

/**
 * Signing in by a code that is sent to an e-mail address. Nothing here looks at accounts: an address with one and an
 * address without get the same mail, by the same steps.
 */

/** A browser that asks for codes, by the token in its cookie, with the address that it asked for last. */
interface SignIn {
  /** SHA-256 of the browser's token. */
  _id: string;
  email: string;
  /** The codes that were sent, oldest first. */
  codes: { mac: string; tries: number; expiresAt: Date }[];
  expiresAt: Date;
}

const signInSchema = new mongoose.Schema<SignIn>(
  {
    _id: String,
    email: { type: String, required: true },
    codes: { type: [{ _id: false, mac: String, tries: Number, expiresAt: Date }], required: true },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
signInSchema.index({ expiresAt: 1 });

export const SignInModel = mongoose.model<SignIn>('SignIn', signInSchema, 'signins');
const signIns = SignInModel.collection as unknown as mongoose.mongo.Collection<SignIn>;

const hourMs = 3_600_000;
export const codeLifetimeMs = 15 * 60_000;
/** The code page stays this long after the last code was asked for. */
export const signInLifetimeMs = hourMs;
export const triesOfCode = 5;
const mailsToAddress: Limit = { name: 'code-mails-to', most: 5, perMs: hourMs };
const mailsForClient: Limit = { name: 'code-mails-for', most: 20, perMs: hourMs };
const wrongCodes: Limit = { name: 'wrong-codes', most: 15, perMs: hourMs };

const emailForm = Joi.string()
  .trim()
  .lowercase()
  .email({ tlds: { allow: false }, minDomainSegments: 2, allowUnicode: false })
  .invalid(operatorEmail)
  .required();

/** The address that somebody typed, in lower case, or null unless it can be one. */
export function readEmail(typed: string): string | null {
  const { value, error } = emailForm.validate(typed);
  return error ? null : value;
}

/** The six digits of a code that somebody typed, perhaps as `123 456`, or null. */
export function readCode(typed: string): string | null {
  const digits = typed.normalize('NFKC').replace(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : null;
}

/** Who signs in, and from where. */
export interface Browser {
  /** The token in the browser's cookie: 256 random bits. */
  token: string;
  /** Of a browser that has signed in with this address before (device.ts). */
  device: string | null;
}

/** Whose mails and tries are counted: those of a known browser apart, those of all others together. */
const countedAs = ({ device }: Browser, email: string): string => (device ? `device:${device}` : sha256(email));

export type NewCode = { code: string } | { tooMany: 'to the address' | 'for the client'; freesMs: number };

/**
 * Makes a code for an address, to be sent there: 15 minutes, for this browser alone. Codes that it asked for earlier stay
 * valid, since mails can be late. At most 5 an hour for an address, and 20 for a client's address.
 */
export async function newCode(
  { secrets }: Pick<Config, 'secrets'>,
  { email, browser, client }: { email: string; browser: Browser; client: string },
  nowMs: number,
): Promise<NewCode> {
  const forClient = await take(mailsForClient, client, nowMs);
  if (forClient.isFull) return { tooMany: 'for the client', freesMs: forClient.freesMs };
  const toAddress = await take(mailsToAddress, countedAs(browser, email), nowMs);
  if (toAddress.isFull) {
    await forClient.giveBack();
    return { tooMany: 'to the address', freesMs: toAddress.freesMs };
  }
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const mac = macOf(secrets, 'sign-in codes', macText(browser, email, code));
  const sent = { mac, tries: 0, expiresAt: new Date(nowMs + codeLifetimeMs) };
  await keepCode(sha256(browser.token), email, sent, new Date(nowMs + signInLifetimeMs));
  return { code };
}

async function keepCode(_id: string, email: string, code: SignIn['codes'][number], expiresAt: Date): Promise<void> {
  const push = { codes: { $each: [code], $slice: -mailsToAddress.most } };
  const { matchedCount } = await signIns.updateOne({ _id, email }, { $push: push, $set: { expiresAt } });
  // Codes for another address end here: a browser signs in with one at a time.
  if (matchedCount === 0) await signIns.replaceOne({ _id }, { email, codes: [code], expiresAt }, { upsert: true });
}

const macText = ({ token }: Browser, email: string, code: string): string => `${token} ${email} ${code}`;

/** The address that a browser has last asked a code for, and whether one of the codes can still be entered; else null. */
export async function openSignIn(token: string, nowMs: number): Promise<{ email: string; hasCode: boolean } | null> {
  const found = await signIns.findOne({ _id: sha256(token), expiresAt: { $gt: new Date(nowMs) } });
  return found && { email: found.email, hasCode: found.codes.some((code) => isLive(code, nowMs)) };
}

const isLive = ({ tries, expiresAt }: SignIn['codes'][number], nowMs: number): boolean =>
  tries < triesOfCode && expiresAt.getTime() > nowMs;

export type EnteredCode =
  | { result: 'right' }
  /** `triesLeft` of the newest code; at 0 a new one is needed. */
  | { result: 'wrong'; triesLeft: number }
  /** None of the codes works any more. */
  | { result: 'no code' }
  | { result: 'too many'; freesMs: number };

/**
 * Enters a code for the address that this browser has asked for. Each try is counted before it is looked at, so concurrent
 * tries are not more than the limit: 5 for a code, 15 an hour over all codes. A right code works once.
 */
export async function enterCode(
  { secrets }: Pick<Config, 'secrets'>,
  { email, browser, code }: { email: string; browser: Browser; code: string },
  nowMs: number,
): Promise<EnteredCode> {
  const tried: Taken = await take(wrongCodes, countedAs(browser, email), nowMs);
  if (tried.isFull) return { result: 'too many', freesMs: tried.freesMs };
  const live = await countTry(sha256(browser.token), email, nowMs);
  const newest = live.at(-1);
  if (!newest) return { result: 'no code' };
  const text = macText(browser, email, code);
  const right = live.filter(({ mac }) => isMacOf(secrets, 'sign-in codes', text, mac))[0];
  if (!right) return { result: 'wrong', triesLeft: triesOfCode - newest.tries - 1 };
  const { deletedCount } = await signIns.deleteOne({ _id: sha256(browser.token), email, 'codes.mac': right.mac });
  if (deletedCount === 0) return { result: 'no code' };
  await tried.giveBack();
  return { result: 'right' };
}

/** Counts a try for each code that can still be entered, and resolves with those codes as they were before. */
async function countTry(_id: string, email: string, nowMs: number): Promise<SignIn['codes']> {
  const before = await signIns.findOneAndUpdate(
    { _id, email },
    { $inc: { 'codes.$[live].tries': 1 } },
    {
      arrayFilters: [{ 'live.tries': { $lt: triesOfCode }, 'live.expiresAt': { $gt: new Date(nowMs) } }],
      returnDocument: 'before',
    },
  );
  return (before?.codes ?? []).filter((code) => isLive(code, nowMs));
}
