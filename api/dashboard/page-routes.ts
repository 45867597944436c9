import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { type SentForm, sentForm } from '../../shared/accounts/sent-form.ts';
import { accountOfSession, type CurrentSession } from '../../shared/accounts/session.ts';
import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, type ErrorCode, errorCodeHeader } from '../../shared/base/errors.ts';
import type { Origin } from '../../shared/rides/ride-types.ts';
import type { Requester } from '../../shared/webhooks/attempts.ts';
import type { Download } from '../../web/kit/answer.ts';
import { errorPage } from '../../web/kit/error-page.tsx';
import { accountField, formIdField } from '../../web/kit/form-fields.ts';
import { type Form, readForm } from '../http/body.ts';
import { type HostCookie, hostCookie } from '../http/credentials.ts';
import { paramOf } from '../http/route.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { otherAccountPage, refusedPage } from './refused-pages.tsx';
import { mayUse } from './rights.ts';

/** The cookie that holds the token of a session. */
export const sessionCookie = (config: Pick<Config, 'environment'>): HostCookie => hostCookie(config, 'session');

/** One route of the dashboard; `path` is relative to the dashboard's base. */
export interface DashboardRoute {
  method: 'GET' | 'POST';
  path: string;
  handle: Middleware;
}

/** A request of a person who has signed in. */
export interface PageRequest {
  ctx: RequestContext;
  account: CurrentAccount;
  session: CurrentSession;
  /** The account to which the request is restricted: it reads and changes only this account's data. */
  owner: { accountId: string };
  /** A path parameter, for example `keyId`. */
  param(name: string): string;
  /** A query parameter; empty if it is missing. */
  query(name: string): string;
}

/** A request that sends a form. */
export interface FormRequest extends PageRequest {
  form: Form;
  /**
   * Identifies the form. The form id is stored together with the form's effect, and other ids are derived from it, so a
   * form that is sent again only completes what an interrupted first request left undone.
   */
  sent: SentForm;
  /** The time at which the request arrived. */
  arrivedAt: Date;
}

/** A page (with status 200, or with another status and, from 400 on, an error code), a redirect (303), or a file. */
export type Answer = string | { html: string; status: number; code?: ErrorCode } | { redirectTo: string } | Download;

/** The answer to a change of a suspended account. */
export const suspended: Answer = {
  status: 403,
  code: 'account_suspended',
  html: errorPage(403, {
    message: {
      title: 'This account is suspended',
      text: 'You can view everything but change nothing. Requests with its keys are answered 401.',
      advice: 'Ask the operator of this service.',
    },
  }),
};

/** A person who has signed in. */
export type Person = Pick<PageRequest, 'account' | 'session'>;

/** Finds the person who is signed in by the session's cookie. */
export function findSignedIn(service: Context): (ctx: RequestContext) => Promise<Person | null> {
  const cookie = sessionCookie(service.config);
  return async (ctx) => {
    const token = cookie.read(ctx);
    return token ? accountOfSession(token, service.now()) : null;
  };
}

/**
 * Creates routes that need a session. Without one, a page redirects to the sign-in page, which leads back to it. A
 * member whose role may not use the route gets a 403 (rights.ts).
 */
export function signedInRoutes(service: Context) {
  const find = findSignedIn(service);
  const cookie = sessionCookie(service.config);
  const answerWith = async (
    ctx: RequestContext,
    route: string,
    answer: (request: PageRequest) => Answer | Promise<Answer>,
    form?: Form,
  ): Promise<void> => {
    const found = await find(ctx);
    if (!found) return respond(ctx, { redirectTo: signInPath(ctx) });
    const { account } = found;
    if (!mayUse(account.member.role, route) && !(form && hasGivenUpRight(ctx, route, account, form))) {
      return respond(ctx, { html: refusedPage(account), status: 403 });
    }
    respond(ctx, await answer(requestOf(ctx, found)));
  };
  /**
   * True for a form that has already changed the team, and so has taken the right to send it: the person handed over.
   * Sending it again only completes its effects.
   */
  function hasGivenUpRight(
    ctx: RequestContext,
    route: string,
    { _id, teamForms = [] }: CurrentAccount,
    form: Form,
  ): boolean {
    // Only these routes look for the form in `teamForms` before they act.
    if (!route.startsWith('POST /team/')) return false;
    const sent = sentForm(_id, form.text(formIdField), cookie.read(ctx));
    return teamForms.some(({ id }) => id === sent.id);
  }
  const answerScript = async (
    ctx: RequestContext,
    route: string,
    answer: (request: PageRequest) => Promise<void>,
  ): Promise<void> => {
    const found = await find(ctx);
    if (found && mayUse(found.account.member.role, route)) return answer(requestOf(ctx, found));
    ctx.status = found ? 403 : 401;
    ctx.body = '';
  };
  return {
    page: (path: string, show: (request: PageRequest) => Answer | Promise<Answer>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) => answerWith(ctx, `GET ${path}`, show),
    }),
    /** Data for a page's script. Answers 401 without a session, because a script cannot sign in. */
    data: (path: string, show: (request: PageRequest) => Promise<object>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) =>
        answerScript(ctx, `GET ${path}`, async (request) => {
          ctx.body = await show(request);
        }),
    }),
    /**
     * Data for a page's script, from fields that must not be in a URL, because proxies log URLs. Changes nothing.
     * Answers 401 without a session.
     */
    ask: (path: string, show: (request: PageRequest & { form: Form }) => Promise<object>): DashboardRoute => ({
      method: 'POST',
      path,
      handle: async (ctx) => {
        const form = await readForm(ctx);
        await answerScript(ctx, `POST ${path}`, async (request) => {
          ctx.body = await show({ ...request, form });
        });
      },
    }),
    /** A stream for a page's script. `open` answers the request. */
    stream: (path: string, open: (request: PageRequest) => Promise<void>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) => answerScript(ctx, `GET ${path}`, open),
    }),
    /**
     * A form that changes something. Answers 400 without the form id, 403 while the account is suspended, and 409 if the
     * form is of a page that was rendered for another account. A form `ofPerson` changes no account, so it is always
     * accepted.
     */
    action: (
      path: string,
      act: (request: FormRequest) => Answer | Promise<Answer>,
      { ofPerson = false } = {},
    ): DashboardRoute => ({
      method: 'POST',
      path,
      handle: async (ctx) => {
        const arrivedAt = new Date(service.now());
        // Before the session, because the member may lose a right until a slow body has arrived.
        const form = await readForm(ctx);
        const changeOnce = async (request: PageRequest): Promise<Answer> => {
          const { account } = request;
          if (account.suspendedAt && !ofPerson) return suspended;
          const of = form.text(accountField);
          if (!ofPerson && of !== account._id) return { html: otherAccountPage(account, of), status: 409 };
          const sent = sentForm(account._id, formIdOf(form), cookie.read(ctx));
          return act({ ...request, form, sent, arrivedAt });
        };
        await answerWith(ctx, `POST ${path}`, changeOnce, form);
      },
    }),
  };
}

function requestOf(ctx: RequestContext, { account, session }: Person): PageRequest {
  const query = (name: string) => [ctx.query[name] ?? ''].flat()[0] ?? '';
  return { ctx, account, session, owner: { accountId: account._id }, query, param: (name) => paramOf(ctx, name) };
}

/** Sends a page, a file or a redirect. */
export function respond(ctx: RequestContext, answer: Answer): void {
  if (typeof answer === 'string') {
    ctx.status = 200;
    ctx.type = 'html';
    ctx.body = answer;
  } else if ('redirectTo' in answer) {
    ctx.redirect(answer.redirectTo);
    ctx.status = 303;
    ctx.body = '';
  } else if ('file' in answer) {
    ctx.status = 200;
    ctx.set('Content-Type', answer.type);
    ctx.set('Content-Disposition', `attachment; filename="${answer.file}"`);
    ctx.body = answer.body;
  } else {
    ctx.status = answer.status;
    if (answer.code) ctx.set(errorCodeHeader, answer.code);
    ctx.type = 'html';
    ctx.body = answer.html;
  }
}

/** Reads the form id. Throws `invalid_request` if it is missing or malformed. */
export function formIdOf(form: Form): string {
  const id = form.text(formIdField);
  if (!/^[\w-]{22}$/.test(id)) throw new AppError('invalid_request');
  return id;
}

/** The URL of the sign-in page, which leads back to the requested page, unless the request has sent a form. */
function signInPath(ctx: RequestContext): string {
  return ctx.method === 'GET' && ctx.path !== '/dashboard'
    ? `/dashboard?next=${encodeURIComponent(ctx.url)}`
    : '/dashboard';
}

/** The requester of an attempt, which is recorded with it. */
export const requesterOf = ({ owner, ctx, sent }: FormRequest): Requester => ({
  ...owner,
  requestId: ctx.state.requestId,
  form: sent.id,
});

/** The origin of a change that a form of the dashboard makes. */
export const originOf = ({ ctx, sent }: FormRequest): Origin => ({
  by: 'dashboard',
  requestId: ctx.state.requestId,
  form: sent.id,
});
