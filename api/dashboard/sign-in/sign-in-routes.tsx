import { accountOf } from '../../../shared/accounts/account.ts';
import { audit } from '../../../shared/accounts/audit.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { sessionLifetimeMs } from '../../../shared/accounts/session-store.ts';
import {
  type EnteredCode,
  enterCode,
  type NewCode,
  newCode,
  openSignIn,
  readCode,
  readEmail,
} from '../../../shared/accounts/sign-in.ts';
import { earlierSubmission } from '../../../shared/accounts/submission.ts';
import type { Context } from '../../../shared/context.ts';
import { canSendMail, sendMail } from '../../../shared/mail/mail.ts';
import { clientAddress, clientNetwork } from '../../http/client-address.ts';
import { type Form, readForm } from '../../http/form-body.ts';
import type { Middleware, RequestContext } from '../../types.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, type DashboardRoute, findAccount, formIdOf, respond } from '../visit.ts';
import { codeMail } from './code-mail.ts';
import { nextPage } from './next-page.ts';
import { signInCookies } from './sign-in-cookies.ts';
import { limitPage, noMailPage, signInPage } from './sign-in-page.tsx';

/** Signing in by a code that is sent to an e-mail address (contract, section 1). */
export function signInRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const findSignedIn = findAccount(service);
  const cookies = signInCookies(config);

  /** The sign-in page, unless somebody is signed in: then the request goes on to the first page. */
  const show: Middleware = async (ctx, next) => {
    if (await findSignedIn(ctx)) return next();
    if (!canSendMail(config)) return respond(ctx, noMailPage());
    const token = cookies.browserToken(ctx);
    const open = await openSignIn(token, service.now());
    const hasNoCookie = ctx.query.sent !== undefined && !open;
    respond(ctx, signInPage({ next: nextPage(textOf(ctx.query.next)), open, hasNoCookie }));
  };

  /** Sends a code, and answers the same for every address. */
  async function sendCode(ctx: RequestContext, form: Form): Promise<Answer> {
    const now = service.now();
    const next = nextPage(form.text('next'));
    const email = readEmail(form.text('email'));
    const token = cookies.browserToken(ctx);
    if (!email) return askAgain(token, form, { email: 'Enter an e-mail address, such as name@company.com' });
    const sentPage = {
      see: next === '/dashboard' ? '/dashboard?sent' : `/dashboard?sent&next=${encodeURIComponent(next)}`,
    };
    // A double click or a reload sends one mail.
    if (await earlierSubmission('sign-in', formIdOf(form), 'code', now)) return sentPage;
    const client = clientNetwork(clientAddress(ctx, config.trustedProxyHops));
    const browser = { token, device: cookies.device(ctx, email) };
    const made = await newCode(config, { email, browser, client }, now);
    if ('tooMany' in made) return tooManyMails(ctx, made);
    await sendMail(service, { to: email, ...codeMail(config, made.code, new Date(now)) });
    return sentPage;
  }

  /** Signs in with the code that this browser was sent. */
  async function signIn(ctx: RequestContext, form: Form): Promise<Answer> {
    const now = service.now();
    const token = cookies.browserToken(ctx);
    const open = await openSignIn(token, now);
    if (!open) return askAgain(token, form, { email: 'This browser has asked for no code, or too long ago' });
    const code = readCode(form.text('code'));
    if (!code) return askAgain(token, form, { code: 'Enter the six digits of the code' });
    const browser = { token, device: cookies.device(ctx, open.email) };
    const entered = await enterCode(config, { email: open.email, browser, code }, now);
    if (entered.result === 'too many') return tooManyCodes(ctx, entered.freesMs);
    if (entered.result !== 'right') return askAgain(token, form, { code: faultOf(entered) });
    await letIn(ctx, open.email);
    return { see: nextPage(form.text('next')) };
  }

  /** The account of a new address is made here: the code has shown that the address is theirs. */
  async function letIn(ctx: RequestContext, email: string): Promise<void> {
    const { _id: accountId } = await accountOf(email);
    const from = clientAddress(ctx, config.trustedProxyHops);
    await audit({ accountId, action: 'signed_in', from }, service.now());
    cookies.session.write(ctx, await startSession(accountId, service.now()), sessionLifetimeMs);
    cookies.knowBrowser(ctx, email);
  }

  /** The page comes back with what is wrong and what was typed; a code is not shown again. */
  async function askAgain(token: string, form: Form, faults: Faults): Promise<Answer> {
    const open = await openSignIn(token, service.now());
    const typed = faults.email ? { email: form.text('email') } : {};
    return { html: signInPage({ next: nextPage(form.text('next')), open, faults, ...typed }), status: 422 };
  }

  /** A form of the sign-in page. Who is signed in already, perhaps by the first of two clicks, goes on. */
  const post = (path: string, act: (ctx: RequestContext, form: Form) => Promise<Answer>): DashboardRoute => ({
    method: 'POST',
    path,
    handle: async (ctx) => {
      const form = await readForm(ctx);
      if (await findSignedIn(ctx)) return respond(ctx, { see: nextPage(form.text('next')) });
      respond(ctx, canSendMail(config) ? await act(ctx, form) : { html: noMailPage(), status: 503 });
    },
  });
  /** Where a form's answer was loaded again as a page. */
  const startOver = (path: string): DashboardRoute => ({
    method: 'GET',
    path,
    handle: (ctx) => respond(ctx, { see: '/dashboard' }),
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

function faultOf(entered: Extract<EnteredCode, { result: 'wrong' | 'no code' }>): string {
  if (entered.result === 'no code') return 'This code has ended: send a new one';
  const { triesLeft } = entered;
  if (triesLeft === 0) return 'This is the fifth wrong code: send a new one';
  return `This is not the code: ${triesLeft === 1 ? 'one try is' : `${triesLeft} tries are`} left`;
}

function tooManyMails(ctx: RequestContext, { tooMany, freesMs }: Extract<NewCode, { tooMany: string }>): Answer {
  const text =
    tooMany === 'to the address'
      ? 'Five codes were sent to this address within an hour. One of them may still arrive: look into the spam folder too. Each works for 15 minutes.'
      : 'Twenty codes were asked for from your network address within an hour.';
  return limited(ctx, { title: 'Too many codes', text, waitMs: freesMs });
}

const tooManyCodes = (ctx: RequestContext, waitMs: number): Answer =>
  limited(ctx, {
    title: 'Too many wrong codes',
    text: 'Fifteen wrong codes were entered for this address within an hour, here or in another browser. A browser in which you have signed in before is counted apart.',
    waitMs,
  });

function limited(ctx: RequestContext, limit: Parameters<typeof limitPage>[0]): Answer {
  ctx.set('Retry-After', String(Math.ceil(limit.waitMs / 1_000)));
  return { html: limitPage(limit), status: 429 };
}
