import { askedEmail, openSignIn, readEmail } from '../../../shared/accounts/sign-in.ts';
import type { Context } from '../../../shared/base/context.ts';
import { canSendMail } from '../../../shared/mail/mail.ts';
import { type Form, readForm } from '../../http/body.ts';
import type { Middleware, RequestContext } from '../../part.ts';
import type { Faults } from '../forms.tsx';
import { type Answer, type DashboardRoute, findSignedIn, formIdOf, respond } from '../visit.ts';
import { codeSteps } from './code-steps.ts';
import { letIn } from './let-in.ts';
import { nextPage } from './next-page.ts';
import { signInCookies } from './sign-in-cookies.ts';
import { noMailPage, signInPage } from './sign-in-page.tsx';

/** Signing in by a code that is sent to an e-mail address (contract, section 1). */
export function signInRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const find = findSignedIn(service);
  const cookies = signInCookies(config);
  const steps = codeSteps(service);
  const enterSession = letIn(service);

  /** The sign-in page, unless somebody is signed in: then the request goes on to the first page. */
  const show: Middleware = async (ctx, next) => {
    if (await find(ctx)) return next();
    if (!canSendMail(config)) return respond(ctx, noMailPage());
    const token = cookies.browserToken(ctx);
    const open = await openSignIn(token, service.now());
    const hasNoCookie = ctx.query.sent !== undefined && !open;
    respond(ctx, signInPage({ next: nextPage(textOf(ctx.query.next)), open, hasNoCookie }));
  };

  /** Sends a code, and answers the same for every address. */
  async function sendCode(ctx: RequestContext, form: Form): Promise<Answer> {
    const next = nextPage(form.text('next'));
    const email = readEmail(form.text('email'));
    const token = cookies.browserToken(ctx);
    if (!email) return askAgain(token, form, { email: 'Enter an e-mail address, such as name@company.com' });
    const browser = { token, device: cookies.device(ctx, email) };
    const refused = await steps.send(ctx, { email, browser, formId: formIdOf(form), next });
    if (refused) return refused;
    return { see: next === '/dashboard' ? '/dashboard?sent' : `/dashboard?sent&next=${encodeURIComponent(next)}` };
  }

  /** Signs in with the code that this browser was sent. */
  async function signIn(ctx: RequestContext, form: Form): Promise<Answer> {
    const formId = formIdOf(form);
    const token = cookies.browserToken(ctx);
    const email = await askedEmail(token, service.now());
    if (!email) return askAgain(token, form, { email: 'This browser has asked for no code, or too long ago' });
    const browser = { token, device: cookies.device(ctx, email) };
    const entered = await steps.enter(ctx, { email, browser, formId, typed: form.text('code') });
    if ('page' in entered) return entered.page;
    if ('fault' in entered) return askAgain(token, form, { code: entered.fault });
    const isIn = await enterSession(ctx, entered, { browser, formId });
    return isIn
      ? { see: nextPage(form.text('next')) }
      : askAgain(token, form, { code: 'This code has ended: send a new one' });
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
      if (await find(ctx)) return respond(ctx, { see: nextPage(form.text('next')) });
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
