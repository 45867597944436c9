import { accountOf, accountsWith, founderIdOf } from '../../shared/accounts/account.ts';
import { audit } from '../../shared/accounts/audit.ts';
import { macsOf } from '../../shared/accounts/derived-keys.ts';
import { noteSignedIn, type Proof } from '../../shared/accounts/enter-code.ts';
import { joinAccount } from '../../shared/accounts/invitations.ts';
import {
  lastUsed,
  livingSessions,
  longestSessionMs,
  type MemberRef,
  startSession,
} from '../../shared/accounts/session.ts';
import type { Browser } from '../../shared/accounts/sign-in-limits.ts';
import { derivedAuditId, derivedMailId } from '../../shared/base/ids.ts';
import { sendMail } from '../../shared/mail/mail.ts';
import type { Answer, PageRequest } from '../kit/answer.ts';
import { suspended } from '../kit/error-page.tsx';
import { goneInvitation } from './joining.tsx';
import { signInCookies } from './sign-in-cookies.ts';
import { newBrowserMail } from './sign-in-mails.ts';

/**
 * Starts the session of a browser whose code or link was verified, which proves that the address belongs to the person.
 * The person joins the account of the accepted invitation. Otherwise, the session is in the account that the address has
 * used last; an address that belongs to none gets its own account.
 *
 * The session token and the ids of the audit entry and the mail are derived from the form id, so a repeated form only
 * adds the missing ones. Resolves with the answer: a redirect to `next`, or the reason why nobody is signed in; null if the
 * session that this form has started has ended.
 */
export async function startBrowserSession(
  request: Pick<PageRequest, 'service' | 'from' | 'client' | 'header' | 'hostCookie'>,
  { email, invitation, isDone }: Proof,
  { browser, formId, next }: { browser: Browser; formId: string; next: string },
): Promise<Answer | null> {
  const { service, from } = request;
  const { config } = service;
  const now = service.now();
  const of = `${browser.token} ${formId}`;
  const tokens = macsOf(config.secrets, 'session tokens', of);
  let [token] = isDone ? await livingSessions(tokens, now) : tokens;
  if (!token) return null;
  if (!isDone) {
    const joined = invitation ? await joinAccount(invitation, { email, from }, now) : null;
    if (joined === 'suspended') return suspended;
    const member = joined ?? (await usualMember(email, { mayCreate: !invitation }));
    if (!member) return goneInvitation();
    const { accountId, memberId } = member;
    const facts = { browser: browserName(request.header('user-agent')), network: request.client() };
    await audit({ _id: derivedAuditId('signed_in', of), accountId, action: 'signed_in', member: email, from }, now);
    token = await startSession(accountId, now, { token, memberId, ...facts });
    if (!browser.device) {
      const mail = newBrowserMail(config, facts, new Date(now));
      await sendMail(service, { to: email, ...mail }, derivedMailId('new browser', of));
    }
    await noteSignedIn(browser.token, formId);
  }
  const cookies = signInCookies(request);
  cookies.session.write(token, longestSessionMs);
  cookies.knowBrowser(email);
  return { redirectTo: next };
}

/** The member as whom an address has signed in last, or whom it became last. */
async function usualMember(email: string, { mayCreate }: { mayCreate: boolean }): Promise<MemberRef | null> {
  const found = (await accountsWith(email)).flatMap(({ _id: accountId, members }) =>
    members.flatMap(({ id: memberId, email: of, joinedAt }) => (of === email ? { accountId, memberId, joinedAt } : [])),
  );
  if (found.length > 0) {
    const last = found.length > 1 ? await lastUsed(found) : undefined;
    return last ?? found.reduce((newest, one) => (one.joinedAt > newest.joinedAt ? one : newest));
  }
  if (!mayCreate) return null;
  const { _id: accountId } = await accountOf(email);
  return { accountId, memberId: founderIdOf(accountId) };
}

/** The order matters: Edge also claims to be Chrome and Safari, and Chrome claims to be Safari. */
const browsers = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOPiOS\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/**
 * A readable browser name such as `Firefox on Windows`. It contains only words from these lists, so it is safe to show.
 */
export function browserName(userAgent: string): string {
  const [browser, system] = [browsers, systems].map((names) => names.find(([form]) => form.test(userAgent))?.[1]);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (system ? `A browser on ${system}` : 'An unknown browser');
}
