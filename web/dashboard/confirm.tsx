import { pendingSignIn } from '../../shared/accounts/enter-code.ts';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { confirmSession, hasRecentCode } from '../../shared/accounts/session.ts';
import { canSendMail } from '../../shared/mail/mail.ts';
import type { Document, SentRequest } from '../kit/answer.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { form } from '../kit/form.ts';
import { ChangeForm } from '../kit/forms.tsx';
import { page } from '../kit/page.tsx';
import { nextPage } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { CodeForm, CodeLead, checkCode, codeScript, MailHint, mailCode, NoMail, noMail } from './sign-in-code.tsx';
import { signInCookies } from './sign-in-cookies.ts';

interface ConfirmData {
  account: CurrentAccount;
  /** The page to which the person returns afterwards. */
  next: string;
  canSend: boolean;
  /** Null if this session has not asked for a code. `hasCode`: its code still works. */
  open: { hasCode: boolean } | null;
  /** The fault of the code, and the code. */
  fault?: string;
  typed?: string;
  mailPage?: string;
}

/** Asks for a new code if the session's last one is older than 12 hours (contract, section 1). */
export const confirm = page('/confirm', {
  section: 'account',
  roles: builders,
  find: async ({ session, query, text, service }) => ({
    next: nextPage(text?.('next') ?? query('next')),
    isRecent: hasRecentCode(session, service.now()),
  }),
  leave: ({ next, isRecent }) => isRecent && next,
  async read(request, { next }): Promise<ConfirmData> {
    const { account, mailPage, service } = request;
    const open = await pendingSignIn(signInCookies(request).session.read(), service.now());
    return { account, next, open, mailPage, canSend: canSendMail(service.config) };
  },
  view: confirmView,
  forms: {
    code: form({
      async act(request, _, { next }: Subject) {
        if (!canSendMail(request.service.config)) return noMail();
        const refused = await mailCode(request, { ...asking(request), next });
        return refused ?? { redirectTo: `/dashboard/confirm?next=${encodeURIComponent(next)}` };
      },
    }),
    enter: form({
      path: '/confirm',
      async act(request, _, { next, isRecent }: Subject) {
        const typed = request.text('code');
        const entered = await checkCode(request, { ...asking(request), typed });
        if ('page' in entered) return entered.page;
        if ('result' in entered) await confirmSession(request.session, entered.at.getTime());
        // After a double click, the first click may already have confirmed the session.
        else if (!isRecent) return { again: 422, show: { fault: entered.fault, typed } };
        return { redirectTo: next };
      },
    }),
  },
});

type Subject = { next: string; isRecent: boolean };

/** The browser of a session counts as known: its tries and mails have their own rate-limit bucket. */
function asking(request: SentRequest) {
  const { account, session, formId } = request;
  const { email } = account.member;
  const cookies = signInCookies(request);
  const browser = { token: cookies.session.read(), device: cookies.device(email) ?? session._id.slice(0, 22) };
  return { email, browser, formId };
}

/** Asks for a new code before the dashboard shows a secret or creates a live key. */
function confirmView({ account, next, canSend, open, fault, typed, mailPage }: ConfirmData): Document {
  if (!canSend) return { title: 'Sign in', outside: 'sign-in', children: <NoMail /> };
  return {
    title: 'Confirm that it is you',
    hasErrors: fault !== undefined,
    scripts: open ? [codeScript] : [],
    lead: (
      <p>
        To show a secret, rotate a key, create a live key or give somebody rights, you need a code that is at most 12
        hours old. You can revoke a key without one.
      </p>
    ),
    children: (
      <>
        {open ? (
          <div class="stack">
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
            <section class="again stack" aria-labelledby="again">
              <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
              {open.hasCode && <p>A mail can arrive some minutes later. Check the spam folder too.</p>}
              <SendForm next={next} isSecond={open.hasCode} />
            </section>
          </div>
        ) : (
          <div class="stack">
            <p>
              We send a code to <strong class="address">{account.member.email}</strong>. Afterwards you return to the
              page that you came from.
            </p>
            <SendForm next={next} isSecond={false} />
          </div>
        )}
      </>
    ),
  };
}

function SendForm({ next, isSecond }: { next: string; isSecond: boolean }) {
  return (
    <ChangeForm action="/dashboard/confirm/code" class="form">
      <input type="hidden" name="next" value={next} />
      <div class="actions">
        <button class={isSecond ? 'btn second' : 'btn'} type="submit">
          Send code
        </button>
        <ButtonLink to={next}>Cancel</ButtonLink>
      </div>
    </ChangeForm>
  );
}
