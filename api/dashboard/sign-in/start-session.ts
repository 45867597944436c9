import { accountOf } from '../../../shared/accounts/account.ts';
import { audit } from '../../../shared/accounts/audit.ts';
import { macsOf } from '../../../shared/accounts/derived-keys.ts';
import { cookieLifetimeMs, livingSessions, startSession } from '../../../shared/accounts/session.ts';
import { noteSignedIn, type Proof } from '../../../shared/accounts/sign-in.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId, derivedMailId } from '../../../shared/base/ids.ts';
import { sendMail } from '../../../shared/mail/mail.ts';
import { clientAddress, clientNetwork } from '../../http/forwarded.ts';
import type { RequestContext } from '../../part.ts';
import { signInCookies } from './cookies.ts';
import { newBrowserMail } from './mails.ts';

/**
 * Starts the session of a browser whose code or link was verified. Creates the account of a new address, because the
 * code or link proves that the address belongs to the person. Resolves with false if the same form has already signed
 * in and that session has ended.
 *
 * The session token and the ids of the audit entry and the mail are derived from the form id, so a repeated form only
 * adds the missing ones.
 */
export async function startBrowserSession(
  service: Context,
  ctx: RequestContext,
  { email, isDone }: Proof,
  { browser, formId }: { browser: Browser; formId: string },
): Promise<boolean> {
  const { config } = service;
  const now = service.now();
  const of = `${browser.token} ${formId}`;
  const tokens = macsOf(config.secrets, 'session tokens', of);
  let [token] = isDone ? await livingSessions(tokens, now) : tokens;
  if (!token) return false;
  if (!isDone) {
    const { _id: accountId } = await accountOf(email);
    const from = clientAddress(ctx, config.trustedProxyHops);
    const facts = { browser: browserName(ctx.get('user-agent')), network: clientNetwork(from) };
    await audit({ _id: derivedAuditId('signed_in', of), accountId, action: 'signed_in', from }, now);
    token = await startSession(accountId, now, { token, ...facts });
    if (!browser.device) {
      const mail = newBrowserMail(config, facts, new Date(now));
      await sendMail(service, { to: email, ...mail }, derivedMailId('new browser', of));
    }
    await noteSignedIn(browser.token, formId);
  }
  const cookies = signInCookies(config);
  cookies.session.write(ctx, token, cookieLifetimeMs);
  cookies.knowBrowser(ctx, email);
  return true;
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
