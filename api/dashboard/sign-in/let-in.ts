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
import { browserName } from './browser-name.ts';
import { newBrowserMail } from './mails.ts';
import { signInCookies } from './sign-in-cookies.ts';

/**
 * Starts the session of a browser that has shown a code or a link. The session's token, the audit entry and the mail follow
 * from the form's id, so the same form sent again completes what is missing. Resolves with false when the form has signed in
 * before and its session has ended since. The account of a new address is made here: the code has shown that the address
 * belongs to the person.
 */
export function letIn(service: Context) {
  const { config } = service;
  const cookies = signInCookies(config);
  return async (
    ctx: RequestContext,
    { email, isDone }: Proof,
    { browser, formId }: { browser: Browser; formId: string },
  ): Promise<boolean> => {
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
    cookies.session.write(ctx, token, cookieLifetimeMs);
    cookies.knowBrowser(ctx, email);
    return true;
  };
}
