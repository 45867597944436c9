import { parseEmail } from '../../shared/accounts/account.ts';
import { pendingSignIn, requestedEmail } from '../../shared/accounts/enter-code.ts';
import { type FoundInvitation, findInvitation } from '../../shared/accounts/invitations.ts';
import { endSession } from '../../shared/accounts/session.ts';
import { canSendMail } from '../../shared/mail/mail.ts';
import type { Answer, OfDashboard, PublicRequest, SentRequest } from '../kit/answer.ts';
import { outsidePage } from '../kit/document.tsx';
import { formIdOf } from '../kit/form-fields.ts';
import { ChangeForm, FaultSummary, type Faults, TextField } from '../kit/forms.tsx';
import { nextPage } from '../kit/paths.ts';
import type { PublicRoute } from '../kit/public-pages.ts';
import { Joining } from './joining.tsx';
import { CodeForm, CodeLead, checkCode, codeScript, MailHint, mailCode, noMail } from './sign-in-code.tsx';
import { signInCookies } from './sign-in-cookies.ts';
import { startBrowserSession } from './start-session.ts';

type SignInRequest = PublicRequest & OfDashboard;
/** The fields of a form that was sent. */
type Sent = Pick<SentRequest, 'text'>;

/** Signs in with a code that is sent to an e-mail address (contract, section 1), and signs out. */
export const signInRoutes: PublicRoute<OfDashboard>[] = [
  { method: 'GET', path: '/', answer: show },
  { method: 'POST', path: '/sign-in/code', answer: (request) => answerForm(request, sendCode) },
  { method: 'POST', path: '/sign-in', answer: (request) => answerForm(request, enterCode) },
  // Redirects a browser that reloads the answer of a form as a page.
  { method: 'GET', path: '/sign-in/code', answer: () => ({ redirectTo: '/dashboard' }) },
  { method: 'GET', path: '/sign-in', answer: () => ({ redirectTo: '/dashboard' }) },
  { method: 'POST', path: '/sign-out', answer: signOut },
];

/** Shows the sign-in page. The overview answers a person who has signed in. */
async function show(request: SignInRequest): Promise<Answer | null> {
  if (await request.person()) return null;
  const { service, query, has, mailPage } = request;
  if (!canSendMail(service.config)) return noMail(200);
  const open = await openSignIn(request, signInCookies(request).browserToken());
  return { html: signInPage({ next: nextPage(query('next')), open, hasNoCookie: has('sent') && !open, mailPage }) };
}

/** The request for a code of this browser, with the invitation that the code accepts. */
async function openSignIn({ service }: SignInRequest, token: string): Promise<OpenSignIn | null> {
  const open = await pendingSignIn(token, service.now());
  return open && { ...open, joining: open.invitation ? await findInvitation(open.invitation, service.now()) : null };
}

/** Answers a form. With a session (after a double click, for example), redirects to the next page. */
async function answerForm(
  request: SignInRequest,
  act: (request: SignInRequest, form: Sent) => Promise<Answer>,
): Promise<Answer> {
  const form = await request.form();
  if (await request.person()) return { redirectTo: nextPage(form.text('next')) };
  return canSendMail(request.service.config) ? act(request, form) : noMail();
}

/** Sends a code. The answer is the same for every address, with or without an account. */
async function sendCode(request: SignInRequest, form: Sent): Promise<Answer> {
  const next = nextPage(form.text('next'));
  const email = parseEmail(form.text('email'));
  const cookies = signInCookies(request);
  const token = cookies.browserToken();
  if (!email) return askAgain(request, token, form, { email: 'Enter an e-mail address, such as name@company.com' });
  const browser = { token, device: cookies.device(email) };
  const open = await pendingSignIn(token, request.service.now());
  const invitation = open?.email === email ? open.invitation : '';
  const refused = await mailCode(request, { email, browser, formId: formIdOf(form), next, invitation });
  if (refused) return refused;
  return {
    redirectTo: next === '/dashboard' ? '/dashboard?sent' : `/dashboard?sent&next=${encodeURIComponent(next)}`,
  };
}

/** Signs in with the code that this browser asked for. */
async function enterCode(request: SignInRequest, form: Sent): Promise<Answer> {
  const formId = formIdOf(form);
  const cookies = signInCookies(request);
  const token = cookies.browserToken();
  const email = await requestedEmail(token, request.service.now());
  const again = (faults: Faults) => askAgain(request, token, form, faults);
  if (!email) return again({ email: 'This browser has not asked for a code recently: send one' });
  const browser = { token, device: cookies.device(email) };
  const entered = await checkCode(request, { email, browser, formId, typed: form.text('code') });
  if ('page' in entered) return entered.page;
  if ('fault' in entered) return again({ code: entered.fault });
  const next = nextPage(form.text('next'));
  const started = await startBrowserSession(request, entered, { browser, formId, next });
  return started ?? again({ code: 'This code no longer works: send a new one' });
}

/** Shows the page again with the faults and the refused address or code. */
async function askAgain(request: SignInRequest, token: string, form: Sent, faults: Faults): Promise<Answer> {
  const open = await openSignIn(request, token);
  const typed = faults.email ? { email: form.text('email') } : { code: form.text('code') };
  const { mailPage } = request;
  return { html: signInPage({ next: nextPage(form.text('next')), open, faults, mailPage, ...typed }), status: 422 };
}

/**
 * Ends the browser's own session on the server. Deleting the cookie is not enough, because it may have been copied.
 * Needs neither a form id nor a session, because sending the form again changes nothing.
 */
async function signOut(request: SignInRequest): Promise<Answer> {
  const { session } = signInCookies(request);
  await endSession(session.read());
  session.clear();
  return { redirectTo: '/dashboard' };
}

interface OpenSignIn {
  email: string;
  hasCode: boolean;
  joining: FoundInvitation | null;
}

interface SignInView {
  /** The page to see after signing in. */
  next: string;
  /** The address for which this browser has asked for a code, if any. */
  open: OpenSignIn | null;
  /** The address as typed. */
  email?: string;
  /** The code as typed. */
  code?: string;
  faults?: Faults;
  /** True if the browser asked for a code but did not keep the cookie. */
  hasNoCookie?: boolean;
  mailPage?: string;
}

/** Asks for an address, then for the code that was sent to it. */
function signInPage(view: SignInView): string {
  const { faults = {}, open } = view;
  // The fault of a code is shown at its field, if the page has one.
  const { code, ...others } = faults;
  const above: Faults = open || !code ? others : faults;
  return outsidePage({
    title: open ? 'Enter the code' : 'Sign in',
    hasErrors: Object.keys(faults).length > 0,
    scripts: open ? [codeScript] : [],
    children: (
      <>
        <FaultSummary faults={above} title="You are not signed in yet" />
        {open ? <CodeStep {...view} open={open} /> : <AddressStep {...view} />}
      </>
    ),
  });
}

function AddressStep({ hasNoCookie, ...view }: SignInView) {
  return (
    <>
      {hasNoCookie && (
        <div class="notice bad" role="alert">
          <p>
            This sign-in has expired, or your browser does not keep our cookie. Allow cookies for this site, then send a
            new code.
          </p>
        </div>
      )}
      <p>
        This is the dashboard of the Ride Partner API: your keys, your rides, and the events that we send to your
        server.
      </p>
      <p>We send a code to your e-mail address; you need no password. A new address gets an account.</p>
      <AddressForm {...view} autofocus={!view.faults} />
      <MailHint mailPage={view.mailPage} />
    </>
  );
}

function CodeStep({ open, next, faults, code, ...view }: SignInView & { open: OpenSignIn }) {
  return (
    <>
      {open.joining && <Joining {...open.joining} />}
      <CodeLead email={open.email} hasCode={open.hasCode} />
      <MailHint mailPage={view.mailPage} />
      <CodeForm
        action="/dashboard/sign-in"
        next={next}
        fault={faults?.code}
        typed={code}
        hasCode={open.hasCode}
        autofocus={faults ? faults.code !== undefined : open.hasCode}
        button="Sign in"
      />
      <section class="again stack" aria-labelledby="again">
        <h2 id="again">{open.hasCode ? 'No mail yet?' : 'A new code'}</h2>
        <p>
          A mail can arrive some minutes later, in some companies twenty. Check the spam folder too. You can send
          another code, to this or another address.
        </p>
        <AddressForm {...view} open={open} next={next} faults={faults} isSecond={open.hasCode} />
      </section>
    </>
  );
}

function AddressForm({
  next,
  open,
  email = open?.email,
  faults,
  autofocus,
  isSecond,
}: SignInView & { autofocus?: boolean; isSecond?: boolean }) {
  return (
    <ChangeForm action="/dashboard/sign-in/code" class="form">
      <input type="hidden" name="next" value={next} />
      <TextField
        name="email"
        label="E-mail"
        type="email"
        faults={faults}
        value={email}
        autocomplete="email"
        inputmode="email"
        maxLength={254}
        autofocus={autofocus}
      />
      <button class={isSecond ? 'btn second' : 'btn'} type="submit">
        Send code
      </button>
    </ChangeForm>
  );
}
