import { parseEmail } from '../../../shared/accounts/account.ts';
import { type FoundInvitation, findInvitation } from '../../../shared/accounts/invitations.ts';
import { pendingSignIn, requestedEmail } from '../../../shared/accounts/sign-in.ts';
import type { Context } from '../../../shared/base/context.ts';
import { canSendMail } from '../../../shared/mail/mail.ts';
import { ChangeForm, FaultSummary, type Faults, TextField } from '../../../web/kit/forms.tsx';
import { nextPage } from '../../../web/kit/paths.ts';
import { type Form, readForm } from '../../http/body.ts';
import type { Middleware, RequestContext } from '../../part.ts';
import { outsidePage } from '../frame.tsx';
import { type Answer, type DashboardRoute, findSignedIn, formIdOf, respond, suspended } from '../page-routes.ts';
import { CodeForm, CodeLead, codeScript, codeSteps, MailHint, noMailPage } from './code.tsx';
import { signInCookies } from './cookies.ts';
import { goneInvitation, Joining } from './invitation-page.tsx';
import { startBrowserSession } from './start-session.ts';

/** Signs in with a code that is sent to an e-mail address (contract, section 1). `mailPage` exists in development. */
export function signInRoutes(service: Context, mailPage?: string): DashboardRoute[] {
  const { config } = service;
  const find = findSignedIn(service);
  const cookies = signInCookies(config);
  const steps = codeSteps(service);

  /** Shows the sign-in page, or calls `next` for a request with a session: the next route answers with the overview. */
  const show: Middleware = async (ctx, next) => {
    if (await find(ctx)) return next();
    if (!canSendMail(config)) return respond(ctx, noMailPage());
    const token = cookies.browserToken(ctx);
    const open = await openSignIn(token);
    const hasNoCookie = ctx.query.sent !== undefined && !open;
    respond(ctx, signInPage({ next: nextPage(textOf(ctx.query.next)), open, hasNoCookie, mailPage }));
  };

  /** The request for a code of this browser, with the invitation that the code accepts. */
  async function openSignIn(token: string): Promise<OpenSignIn | null> {
    const open = await pendingSignIn(token, service.now());
    return open && { ...open, joining: open.invitation ? await findInvitation(open.invitation, service.now()) : null };
  }

  /** Sends a code. The answer is the same for every address, with or without an account. */
  async function sendCode(ctx: RequestContext, form: Form): Promise<Answer> {
    const next = nextPage(form.text('next'));
    const email = parseEmail(form.text('email'));
    const token = cookies.browserToken(ctx);
    if (!email) return askAgain(token, form, { email: 'Enter an e-mail address, such as name@company.com' });
    const browser = { token, device: cookies.device(ctx, email) };
    const open = await pendingSignIn(token, service.now());
    const invitation = open?.email === email ? open.invitation : '';
    const refused = await steps.send(ctx, { email, browser, formId: formIdOf(form), next, invitation });
    if (refused) return refused;
    return {
      redirectTo: next === '/dashboard' ? '/dashboard?sent' : `/dashboard?sent&next=${encodeURIComponent(next)}`,
    };
  }

  /** Signs in with the code that this browser asked for. */
  async function signIn(ctx: RequestContext, form: Form): Promise<Answer> {
    const formId = formIdOf(form);
    const token = cookies.browserToken(ctx);
    const email = await requestedEmail(token, service.now());
    if (!email) return askAgain(token, form, { email: 'This browser has not asked for a code recently: send one' });
    const browser = { token, device: cookies.device(ctx, email) };
    const entered = await steps.enter(ctx, { email, browser, formId, typed: form.text('code') });
    if ('page' in entered) return entered.page;
    if ('fault' in entered) return askAgain(token, form, { code: entered.fault });
    const isIn = await startBrowserSession(service, ctx, entered, { browser, formId });
    if (isIn === 'invitation is gone') return goneInvitation();
    if (isIn === 'suspended') return suspended;
    return isIn === 'started'
      ? { redirectTo: nextPage(form.text('next')) }
      : askAgain(token, form, { code: 'This code no longer works: send a new one' });
  }

  /** Shows the page again with the faults and the refused address or code. */
  async function askAgain(token: string, form: Form, faults: Faults): Promise<Answer> {
    const open = await openSignIn(token);
    const typed = faults.email ? { email: form.text('email') } : { code: form.text('code') };
    return { html: signInPage({ next: nextPage(form.text('next')), open, faults, mailPage, ...typed }), status: 422 };
  }

  /** A form of the sign-in page. With a session (after a double click, for example), it redirects to the next page. */
  const post = (path: string, act: (ctx: RequestContext, form: Form) => Promise<Answer>): DashboardRoute => ({
    method: 'POST',
    path,
    handle: async (ctx) => {
      const form = await readForm(ctx);
      if (await find(ctx)) return respond(ctx, { redirectTo: nextPage(form.text('next')) });
      respond(ctx, canSendMail(config) ? await act(ctx, form) : { html: noMailPage(), status: 503 });
    },
  });
  /** Redirects a browser that reloads the answer of a form as a page. */
  const startOver = (path: string): DashboardRoute => ({
    method: 'GET',
    path,
    handle: (ctx) => respond(ctx, { redirectTo: '/dashboard' }),
  });

  return [
    { method: 'GET', path: '/', handle: show },
    post('/sign-in/code', sendCode),
    post('/sign-in', signIn),
    startOver('/sign-in/code'),
    startOver('/sign-in'),
  ];
}

const textOf = (value: string | string[] | undefined): string => [value ?? ''].flat()[0] ?? '';

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
  const title = open ? 'Enter the code' : 'Sign in';
  return outsidePage({
    title,
    hasErrors: Object.keys(faults).length > 0,
    scripts: open ? [codeScript] : [],
    children: (
      <>
        <h1>{title}</h1>
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
      <p class="lead">
        This is the dashboard of the Ride Partner API: your keys, your rides, and the events that we send to your
        server.
      </p>
      <p class="lead">We send a code to your e-mail address; you need no password. A new address gets an account.</p>
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
      <section class="again" aria-labelledby="again">
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
