import type { Readable } from 'node:stream';
import type { Account } from '../../shared/accounts/account.ts';
import { type SentForm, sentForm } from '../../shared/accounts/sent-form.ts';
import { accountOfSession, type CurrentSession, hasRecentCode } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, type ErrorCode, errorCodeHeader } from '../../shared/base/errors.ts';
import { type Form, readForm } from '../http/body.ts';
import { errorPage } from '../pages/error-page.tsx';
import type { Middleware, RequestContext } from '../part.ts';
import { sessionCookie } from './session-cookie.ts';

/** One route of the dashboard; `path` is relative to the dashboard's base. */
export interface DashboardRoute {
  method: 'GET' | 'POST';
  path: string;
  handle: Middleware;
}

/** A request of somebody who has signed in. */
export interface Visit {
  ctx: RequestContext;
  account: Account;
  session: CurrentSession;
  /** A parameter of the path, e.g. `keyId`. */
  param(name: string): string;
  /** A parameter of the query; empty where it is missing. */
  query(name: string): string;
}

/** A visit that sends a form. */
export interface Sending extends Visit {
  form: Form;
  /**
   * Names the form. Its name is written together with its effect, and ids are derived from it, so that sending it again
   * completes what the first sending did not, and changes nothing else.
   */
  sent: SentForm;
  /** When the request arrived. */
  arrivedAt: Date;
}

/** What a route answers: a page (200, or the status given, with the code of an error for a status of 400 or more), the address of the page to see next (303), or a file. */
export type Answer = string | { html: string; status: number; code?: ErrorCode } | { see: string } | FileAnswer;

/** A file that the browser saves under this name, of word characters, dots and dashes. */
export interface FileAnswer {
  file: string;
  type: string;
  body: Readable;
}

const suspended: Answer = {
  status: 403,
  code: 'account_suspended',
  html: errorPage(403, {
    message: {
      title: 'This account is suspended',
      text: 'You can look at everything, and change nothing. Requests with its keys are answered 401.',
      advice: 'Ask the operator of this service.',
    },
  }),
};

/** Somebody who has signed in. */
export type SignedIn = Pick<Visit, 'account' | 'session'>;

/** Finds who is signed in, by the session's cookie. */
export function findSignedIn(service: Context): (ctx: RequestContext) => Promise<SignedIn | null> {
  const cookie = sessionCookie(service.config);
  return async (ctx) => {
    const token = cookie.read(ctx);
    return token ? accountOfSession(token, service.now()) : null;
  };
}

/**
 * Makes routes that only somebody who has signed in can use; others are sent to the sign-in page, which leads back to the
 * page they asked for.
 */
export function signedInRoutes(service: Context) {
  const find = findSignedIn(service);
  const cookie = sessionCookie(service.config);
  const visited = async (ctx: RequestContext, answer: (visit: Visit) => Answer | Promise<Answer>): Promise<void> => {
    const found = await find(ctx);
    respond(ctx, found ? await answer(visitOf(ctx, found)) : { see: signInPath(ctx) });
  };
  const known = async (ctx: RequestContext, answer: (visit: Visit) => Promise<void>): Promise<void> => {
    const found = await find(ctx);
    if (found) return answer(visitOf(ctx, found));
    ctx.status = 401;
    ctx.body = '';
  };
  return {
    /** A page. */
    page: (path: string, show: (visit: Visit) => Answer | Promise<Answer>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) => visited(ctx, show),
    }),
    /** What a page's script asks for. Without a session it is a 401, since a script cannot sign in. */
    data: (path: string, show: (visit: Visit) => Promise<object>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) =>
        known(ctx, async (visit) => {
          ctx.body = await show(visit);
        }),
    }),
    /** A stream that a page's script reads. `open` answers the request itself. */
    stream: (path: string, open: (visit: Visit) => Promise<void>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) => known(ctx, open),
    }),
    /**
     * A form that changes something. Without its one-time id it is answered 400, and while the account is suspended 403.
     */
    action: (
      path: string,
      act: (sending: Sending) => Answer | Promise<Answer>,
      { evenSuspended = false } = {},
    ): DashboardRoute => ({
      method: 'POST',
      path,
      handle: (ctx) => {
        const arrivedAt = new Date(service.now());
        return visited(ctx, async (visit) => {
          if (visit.account.suspendedAt && !evenSuspended) return suspended;
          const form = await readForm(ctx);
          const sent = sentForm(visit.account._id, formIdOf(form), cookie.read(ctx));
          return act({ ...visit, form, sent, arrivedAt });
        });
      },
    }),
  };
}

function visitOf(ctx: RequestContext, { account, session }: SignedIn): Visit {
  const { params } = ctx as unknown as { params: Record<string, string> };
  const query = (name: string) => [ctx.query[name] ?? ''].flat()[0] ?? '';
  return { ctx, account, session, query, param: (name) => params[name] ?? '' };
}

/** Answers with a page, or sends the browser to another. */
export function respond(ctx: RequestContext, answer: Answer): void {
  if (typeof answer === 'string') {
    ctx.status = 200;
    ctx.type = 'html';
    ctx.body = answer;
  } else if ('see' in answer) {
    ctx.redirect(answer.see);
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

/** The name of the field that holds a form's one-time id (forms.tsx). */
export const formIdField = 'formId';

/** The one-time id of a form. Throws a 400 for a form without one. */
export function formIdOf(form: Form): string {
  const id = form.text(formIdField);
  if (!/^[\w-]{22}$/.test(id)) throw new AppError('invalid_request');
  return id;
}

/**
 * Where a visit is sent before a secret is shown or a live key made, unless a code was verified in its session within the last
 * 12 hours; else null. It leads back to `next`, a page of the dashboard.
 */
export const askForCode = ({ session }: Pick<Visit, 'session'>, next: string, nowMs: number): { see: string } | null =>
  hasRecentCode(session, nowMs) ? null : { see: `/dashboard/confirm?next=${encodeURIComponent(next)}` };

/** Only pages are worth coming back to: the address of a form's sending has none. */
function signInPath(ctx: RequestContext): string {
  return ctx.method === 'GET' && ctx.path !== '/dashboard'
    ? `/dashboard?next=${encodeURIComponent(ctx.url)}`
    : '/dashboard';
}
