import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import { confirmSession, hasRecentCode } from '../../../shared/accounts/session.ts';
import { pendingSignIn } from '../../../shared/accounts/sign-in.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import type { Context } from '../../../shared/base/context.ts';
import { canSendMail } from '../../../shared/mail/mail.ts';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { nextPage } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  formIdOf,
  type PageRequest,
  signedInRoutes,
} from '../page-routes.ts';
import { CodeForm, CodeLead, codeScript, codeSteps, MailHint, noMailPage } from './code.tsx';
import { signInCookies } from './cookies.ts';

/** Asks for a new code if the session's last one is older than 12 hours (contract, section 1). */
export function confirmRoutes(service: Context, mailPage?: string): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const cookies = signInCookies(config);
  const steps = codeSteps(service);
  const asking = (request: FormRequest) => ({
    email: request.account.member.email,
    browser: sessionBrowser(cookies, request),
    formId: formIdOf(request.form),
  });

  async function show(request: PageRequest, next: string, refused?: RefusedCode): Promise<Answer> {
    const open = await pendingSignIn(cookies.session.read(request.ctx), service.now());
    const html = confirmPage({ account: request.account, next, open, mailPage, ...refused });
    return { html, status: refused ? 422 : 200 };
  }

  return [
    page('/confirm', async (request) => {
      const next = nextPage(request.query('next'));
      if (hasRecentCode(request.session, service.now())) return { redirectTo: next };
      return canSendMail(config) ? show(request, next) : noMailPage();
    }),
    action('/confirm/code', async (request) => {
      const next = nextPage(request.form.text('next'));
      if (!canSendMail(config)) return { html: noMailPage(), status: 503 };
      const refused = await steps.send(request.ctx, { ...asking(request), next });
      return refused ?? { redirectTo: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
    }),
    page('/confirm/code', () => ({ redirectTo: '/dashboard' })),
    action('/confirm', async (request) => {
      const next = nextPage(request.form.text('next'));
      const typed = request.form.text('code');
      const entered = await steps.enter(request.ctx, { ...asking(request), typed });
      if ('page' in entered) return entered.page;
      if ('result' in entered) {
        await confirmSession(request.session, entered.at.getTime());
        return { redirectTo: next };
      }
      // After a double click, the first click may already have confirmed the session.
      if (hasRecentCode(request.session, service.now())) return { redirectTo: next };
      return show(request, next, { fault: entered.fault, typed });
    }),
  ];
}

/** The browser of a session, which counts as known: its tries and mails have their own rate-limit bucket. */
function sessionBrowser(cookies: ReturnType<typeof signInCookies>, { ctx, account, session }: PageRequest): Browser {
  return {
    token: cookies.session.read(ctx),
    device: cookies.device(ctx, account.member.email) ?? session._id.slice(0, 22),
  };
}

interface RefusedCode {
  fault: string;
  typed: string;
}

interface ConfirmView extends Partial<RefusedCode> {
  account: CurrentAccount;
  /** The page to which the person returns afterwards. */
  next: string;
  /** Null if this session has not asked for a code. `hasCode`: its code still works. */
  open: { hasCode: boolean } | null;
  mailPage?: string;
}

/** Asks for a new code before the dashboard shows a secret or creates a live key. */
function confirmPage({ account, next, open, fault, typed, mailPage }: ConfirmView): string {
  return dashboardPage({
    title: 'Confirm that it is you',
    account,
    section: 'account',
    hasErrors: fault !== undefined,
    scripts: open ? [codeScript] : [],
    children: (
      <>
        <PageHead title="Confirm that it is you">
          <p>
            To show a secret, rotate a key, create a live key or give somebody rights, you need a code that is at most
            12 hours old. You can revoke a key without one.
          </p>
        </PageHead>
        {open ? (
          <div class="confirm">
            <CodeLead email={account.member.email} hasCode={open.hasCode} />
            <MailHint mailPage={mailPage} />
            <CodeForm
              action="/dashboard/confirm"
              next={next}
              fault={fault}
              typed={typed}
              hasCode={open.hasCode}
              autofocus={fault !== undefined || open.hasCode}
              button="Confirm"
            />
            <section class="section" aria-labelledby="again">
              <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
              {open.hasCode && <p>A mail can arrive some minutes later. Check the spam folder too.</p>}
              <SendForm next={next} isSecond={open.hasCode} />
            </section>
          </div>
        ) : (
          <div class="confirm">
            <p>
              We send a code to <strong class="address">{account.member.email}</strong>. Afterwards you return to the
              page that you came from.
            </p>
            <SendForm next={next} isSecond={false} />
          </div>
        )}
      </>
    ),
  });
}

function SendForm({ next, isSecond }: { next: string; isSecond: boolean }) {
  return (
    <ChangeForm action="/dashboard/confirm/code" class="form">
      <input type="hidden" name="next" value={next} />
      <div class="actions">
        <button class={isSecond ? 'btn second' : 'btn'} type="submit">
          Send code
        </button>
        <a class="btn second" href={next}>
          Cancel
        </a>
      </div>
    </ChangeForm>
  );
}
