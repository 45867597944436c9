import type { Config } from '../base/config.ts';
import { sha256 } from '../base/ids.ts';
import { bareCode } from '../base/pasted.ts';
import { isMacOf, isOneOf, macOf, macsOf } from './derived-keys.ts';
import { type Browser, chargeMail, countTry, type MailRefusal, refundTry } from './sign-in-limits.ts';
import { type SignIn, signIns } from './sign-in-row.ts';

/**
 * Sign-in by a code or a link that is sent to an e-mail address. Nothing here reads accounts, so addresses with and
 * without an account get the same mail in the same way.
 */

export const codeLifetimeMs = 15 * 60_000;
/** The code page and the link work for this long after the last request for a code, because mails can be late. */
export const signInLifetimeMs = 3_600_000;
const triesOfCode = 5;
/** 22 base64url characters are 132 bits. */
const linkLength = 22;

/** The six digits of a typed or pasted code, which may contain spaces and dashes; null if it is not a code. */
export function parseCode(typed: string): string | null {
  const digits = bareCode(typed);
  return /^\d{6}$/.test(digits) ? digits : null;
}

type Settings = Pick<Config, 'secrets' | 'signInMailsPerHour'>;

interface CodeRequest {
  email: string;
  browser: Browser;
  /** The client's network. */
  client: string;
  formId: string;
  /** The page to show after sign-in. */
  next?: string;
  /** The hash of the invitation that the person accepts with this sign-in. */
  invitation?: string;
}

/** The id of a request for a code. Sending the form again gives the same id, so only one mail is sent and charged. */
export const codeRequestId = ({ email, browser, formId }: Pick<CodeRequest, 'email' | 'browser' | 'formId'>): string =>
  sha256(`${browser.token} ${email} ${formId}`);

type NewCode = { code: string; link: string } | MailRefusal;

/**
 * Creates a sign-in code and a link to send to an address. The code works for 15 minutes and the link for an hour, both
 * only in this browser. After one of them is used, neither works again. While the browser has a live code, another
 * request gives the same code: mails can be late, and an attacker then has only one code to guess. The limits per
 * address, per client and in total apply (sign-in-limits.ts).
 */
export async function newCode(
  { secrets, signInMailsPerHour }: Settings,
  { email, browser, client, formId, next = '', invitation = '' }: CodeRequest,
  nowMs: number,
): Promise<NewCode> {
  const id = codeRequestId({ email, browser, formId });
  const refused = await chargeMail({ email, browser, client, id }, signInMailsPerHour, nowMs);
  if (refused) return refused;
  const now = new Date(nowMs);
  const expiresAt = new Date(nowMs + codeLifetimeMs);
  const isOpen = {
    $and: [{ $eq: ['$email', email] }, { $gt: ['$expiresAt', now] }, { $eq: [{ $type: '$used' }, 'missing'] }],
  };
  const isLive = { $and: [isOpen, { $lt: ['$code.tries', triesOfCode] }, { $gt: ['$code.expiresAt', now] }] };
  const [fresh = ''] = codesOf(secrets, browser, email, formId);
  const freshCode = { mac: macOf(secrets, 'sign-in codes', macText(browser, email, fresh)), tries: 0, expiresAt };
  const kept = { mac: '$code.mac', tries: '$code.tries', expiresAt };
  const ifLive = (then: unknown, otherwise: unknown) => ({ $cond: [isLive, then, otherwise] });
  const change = [
    {
      $replaceWith: {
        _id: '$_id',
        email: { $literal: email },
        code: ifLive(kept, freshCode),
        codeSeed: ifLive('$codeSeed', { $literal: formId }),
        tried: ifLive('$tried', []),
        linkSeed: { $cond: [isOpen, '$linkSeed', { $literal: formId }] },
        next: { $literal: next },
        invitation: { $literal: invitation },
        expiresAt: new Date(nowMs + signInLifetimeMs),
      },
    },
  ];
  const _id = sha256(browser.token);
  const options = { upsert: true, returnDocument: 'after' } as const;
  const row = (await signIns.findOneAndUpdate({ _id }, change, options)) as SignIn;
  const mac = row.code?.mac ?? '';
  const candidates = codesOf(secrets, browser, email, row.codeSeed);
  // The first SECRETS_KEY may have changed since the code was stored, so every listed key is tried.
  const code = candidates.find((one) => isMacOf(secrets, 'sign-in codes', macText(browser, email, one), mac)) ?? fresh;
  const [link = ''] = linksOf(secrets, browser, email, row.linkSeed);
  return { code, link };
}

const macText = ({ token }: Browser, email: string, code: string): string => `${token} ${email} ${code}`;

/** The codes derived from a seed, one with each SECRETS_KEY. */
const codesOf = (secrets: Config['secrets'], browser: Browser, email: string, seed: string): string[] =>
  macsOf(secrets, 'new codes', macText(browser, email, seed)).map((mac) =>
    String(Buffer.from(mac, 'base64url').readUIntBE(0, 6) % 1_000_000).padStart(6, '0'),
  );

const linksOf = (secrets: Config['secrets'], browser: Browser, email: string, seed: string): string[] =>
  macsOf(secrets, 'sign-in links', macText(browser, email, seed)).map((mac) => mac.slice(0, linkLength));

export interface PendingSignIn {
  email: string;
  hasCode: boolean;
  next: string;
  invitation: string;
}

/** The last code request of a browser; null without one, or once it was used. `hasCode`: its code can be entered. */
export async function pendingSignIn(token: string, nowMs: number): Promise<PendingSignIn | null> {
  const found = await findSignIn(token, nowMs);
  if (!found || found.used) return null;
  const { email, next = '', invitation = '' } = found;
  return { email, hasCode: liveCodeOf(found, nowMs) !== undefined, next, invitation };
}

/** The address of this browser's last code request, even if it was used; null if there is none. */
export const requestedEmail = async (token: string, nowMs: number): Promise<string | null> =>
  (await findSignIn(token, nowMs))?.email ?? null;

const findSignIn = (token: string, nowMs: number): Promise<SignIn | null> =>
  signIns.findOne({ _id: sha256(token), expiresAt: { $gt: new Date(nowMs) } });

const liveCodeOf = ({ code }: SignIn, nowMs: number): SignIn['code'] =>
  code && code.tries < triesOfCode && code.expiresAt.getTime() > nowMs ? code : undefined;

/** The result of a verified code or link. `isDone`: the same form has already completed the sign-in. */
export interface Proof {
  result: 'right';
  email: string;
  next: string;
  invitation: string;
  /** The time at which the code or link was first used. */
  at: Date;
  isDone: boolean;
}

export type CodeResult =
  | Proof
  /**
   * `triesLeft`: the tries that this code still has; at 0 a new code is needed. `wrongToday`: the wrong codes of the
   * last day in the rate-limit bucket, including this one.
   */
  | { result: 'wrong'; triesLeft: number; wrongToday: number }
  /** The browser has no code that can be entered. */
  | { result: 'no code' }
  | { result: 'too many'; freesMs: number };

interface CodeEntry {
  email: string;
  browser: Browser;
  code: string;
  formId: string;
}

/**
 * Enters a code for the address for which this browser requested one. Each try is counted before the code is compared,
 * so concurrent tries cannot exceed the limits: 5 per code, 20 a day over all codes. A correct code works once; sending
 * the same form again repeats the result.
 */
export async function enterCode(
  { secrets }: Pick<Settings, 'secrets'>,
  { email, browser, code, formId }: CodeEntry,
  nowMs: number,
): Promise<CodeResult> {
  const open = await findSignIn(browser.token, nowMs);
  if (open?.email !== email) return { result: 'no code' };
  const isRight = (mac: string) => isMacOf(secrets, 'sign-in codes', macText(browser, email, code), mac);
  const live = open.used ? { mac: open.used.mac } : liveCodeOf(open, nowMs);
  if (!live) return { result: 'no code' };
  // The id of the try contains the stored code: the same digits in the same form are a new guess once the code has
  // changed.
  const guess = `${macText(browser, email, code)} ${formId} ${live.mac}`;
  const tryId = macOf(secrets, 'sign-in codes', guess).slice(0, linkLength);
  if (!open.used) {
    const tried = await countTry(browser, email, tryId, nowMs);
    if (tried.isFull) return { result: 'too many', freesMs: tried.freesMs };
    const tries = await countTryOfCode(open, live.mac, tryId, nowMs);
    if (tries === null) {
      await tried.refund();
      // Another request with the same form may have used the code since it was read.
      return (isRight(live.mac) && (await proofOf(open, live.mac, formId))) || { result: 'no code' };
    }
    if (!isRight(live.mac)) return { result: 'wrong', triesLeft: triesOfCode - tries, wrongToday: tried.count };
  } else if (!isRight(live.mac)) return { result: 'no code' };
  const proof = await consume(open, live.mac, formId, nowMs);
  await refundTry(browser, email, tryId);
  return proof ?? { result: 'no code' };
}

/** Counts a try once. Resolves with the number of tries of this code; null if it can no longer be entered. */
async function countTryOfCode(
  { _id, email }: SignIn,
  mac: string,
  tryId: string,
  nowMs: number,
): Promise<number | null> {
  const isLive = {
    'code.mac': mac,
    'code.tries': { $lt: triesOfCode },
    'code.expiresAt': { $gt: new Date(nowMs) },
  };
  const counted = await signIns.findOneAndUpdate(
    { _id, email, tried: { $ne: tryId }, ...isLive },
    { $inc: { 'code.tries': 1 }, $push: { tried: tryId } },
    { returnDocument: 'after' },
  );
  const row = counted ?? (await signIns.findOne({ _id, email, tried: tryId, 'code.mac': mac }));
  return row?.code?.tries ?? null;
}

/** Checks a link. Resolves with its request for a code; null if it is not for this browser or no longer works. */
export async function openLink(
  { secrets }: Pick<Settings, 'secrets'>,
  { browser, link, formId }: { browser: Browser; link: string; formId?: string },
  nowMs: number,
): Promise<Omit<PendingSignIn, 'hasCode'> | null> {
  const open = await findSignIn(browser.token, nowMs);
  if (!open || (open.used && open.used.formId !== formId)) return null;
  const { email, linkSeed, next = '', invitation = '' } = open;
  return isOneOf(linksOf(secrets, browser, email, linkSeed), link) ? { email, next, invitation } : null;
}

/** Uses a link, once; a repeat of the form repeats the result. No limit: nobody guesses 132 bits. */
export async function enterLink(
  settings: Pick<Settings, 'secrets'>,
  entered: { browser: Browser; link: string; formId: string },
  nowMs: number,
): Promise<Proof | null> {
  if (!(await openLink(settings, entered, nowMs))) return null;
  const open = await findSignIn(entered.browser.token, nowMs);
  return open && consume(open, '', entered.formId, nowMs);
}

/** Marks the code and the link as used by a form. Resolves with null if another form used them first. */
async function consume(open: SignIn, mac: string, formId: string, nowMs: number): Promise<Proof | null> {
  const { _id, email } = open;
  const used = { formId, mac, at: new Date(nowMs) };
  const isOpen = { _id, email, used: { $exists: false }, ...(mac && { 'code.mac': mac }) };
  await signIns.updateOne(isOpen, { $set: { used }, $unset: { code: '' } });
  return proofOf(open, mac, formId);
}

/** The result of a code or link that this form has used; null if it has not. */
async function proofOf({ _id, email }: SignIn, mac: string, formId: string): Promise<Proof | null> {
  const row = await signIns.findOne({ _id, email, 'used.formId': formId, 'used.mac': mac });
  if (!row?.used) return null;
  const { next = '', invitation = '', used: by } = row;
  return { result: 'right', email, next, invitation, at: by.at, isDone: by.isDone === true };
}

/** Records that the form has completed the sign-in, so that a repeat does not restart an ended session. */
export async function noteSignedIn(token: string, formId: string): Promise<void> {
  await signIns.updateOne({ _id: sha256(token), 'used.formId': formId }, { $set: { 'used.isDone': true } });
}
