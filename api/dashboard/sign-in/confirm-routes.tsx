import { confirmSession, hasRecentCode } from '../../../shared/accounts/session.ts';
import { openSignIn } from '../../../shared/accounts/sign-in.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import type { Context } from '../../../shared/base/context.ts';
import { canSendMail } from '../../../shared/mail/mail.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, type DashboardRoute, formIdOf, type Sending, signedInRoutes, type Visit } from '../visit.ts';
import { codeSteps } from './code-steps.ts';
import { confirmPage } from './confirm-page.tsx';
import { nextPage } from './next-page.ts';
import { signInCookies } from './sign-in-cookies.ts';
import { noMailPage } from './sign-in-page.tsx';

/** A new code for a session whose last one is older than 12 hours (contract, section 1). */
export function confirmRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const cookies = signInCookies(config);
  const steps = codeSteps(service);
  const asking = (sending: Sending) => ({
    email: sending.account.email,
    browser: sessionBrowser(cookies, sending),
    formId: formIdOf(sending.form),
  });

  async function show(visit: Visit, next: string, fault?: string): Promise<Answer> {
    const open = await openSignIn(cookies.session.read(visit.ctx), service.now());
    const faults: Faults = fault ? { code: fault } : {};
    return { html: confirmPage({ account: visit.account, next, open, faults }), status: fault ? 422 : 200 };
  }

  return [
    page('/confirm', async (visit) => {
      const next = nextPage(visit.query('next'));
      if (hasRecentCode(visit.session, service.now())) return { see: next };
      return canSendMail(config) ? show(visit, next) : noMailPage();
    }),
    action('/confirm/code', async (sending) => {
      const next = nextPage(sending.form.text('next'));
      if (!canSendMail(config)) return { html: noMailPage(), status: 503 };
      const refused = await steps.send(sending.ctx, { ...asking(sending), next });
      return refused ?? { see: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
    }),
    page('/confirm/code', () => ({ see: '/dashboard' })),
    action('/confirm', async (sending) => {
      const next = nextPage(sending.form.text('next'));
      const entered = await steps.enter(sending.ctx, { ...asking(sending), typed: sending.form.text('code') });
      if ('page' in entered) return entered.page;
      if ('result' in entered) {
        await confirmSession(sending.session, entered.at.getTime());
        return { see: next };
      }
      // The first of two clicks has confirmed the session.
      if (hasRecentCode(sending.session, service.now())) return { see: next };
      return show(sending, next, entered.fault);
    }),
  ];
}

/** A session has signed in before, so its tries and mails are counted apart from those of strangers. */
function sessionBrowser(cookies: ReturnType<typeof signInCookies>, { ctx, account, session }: Visit): Browser {
  return { token: cookies.session.read(ctx), device: cookies.device(ctx, account.email) ?? session._id.slice(0, 22) };
}
