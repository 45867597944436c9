import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { type SentForm, sentForm } from '../../shared/accounts/sent-form.ts';
import { accountOfSession } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { Origin } from '../../shared/rides/ride-types.ts';
import type { Requester } from '../../shared/webhooks/attempts.ts';
import { renderInFrame } from '../../web/dashboard/frame.tsx';
import { otherAccountPage, refusedPage } from '../../web/dashboard/refused-pages.tsx';
import { mayUse } from '../../web/dashboard/rights.ts';
import {
  type Answer,
  type OfDashboard,
  type Person,
  type PublicRequest,
  sessionCookie,
  type PageRequest as WebPageRequest,
} from '../../web/kit/answer.ts';
import { suspended } from '../../web/kit/error-page.tsx';
import { accountField, formIdField, formIdOf } from '../../web/kit/form-fields.ts';
import { type Form, readForm } from '../http/body.ts';
import { hostCookie } from '../http/credentials.ts';
import { clientAddress } from '../http/forwarded.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { describeRequest, respond } from '../web-part.ts';

/** One route of the dashboard; `path` is relative to the dashboard's base. */
export interface DashboardRoute {
  method: 'GET' | 'POST';
  path: string;
  handle: Middleware;
}

/** A request of a person who has signed in. */
export type PageRequest = Omit<WebPageRequest, 'latest'> & { ctx: RequestContext };

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

/** Describes a request for the dashboard, without Koa. */
export function describeForDashboard(service: Context, mailPage?: string) {
  return (ctx: RequestContext): PublicRequest & OfDashboard => {
    const request = describeRequest(ctx, service);
    async function person(): Promise<Person | null> {
      const token = request.hostCookie(sessionCookie).read();
      return token ? accountOfSession(token, service.now()) : null;
    }
    return { ...request, service, from: clientAddress(ctx, service), mailPage, person };
  };
}

/**
 * Creates routes that need a session. Without one, a page redirects to the sign-in page, which leads back to it. A
 * member whose role may not use the route gets a 403 (web/dashboard/rights.ts).
 */
export function signedInRoutes(service: Context, mailPage?: string) {
  const describe = describeForDashboard(service, mailPage);
  const cookie = hostCookie(service.config, sessionCookie);
  /** The request of the person who has signed in; null if nobody has. */
  async function signedInRequest(ctx: RequestContext): Promise<PageRequest | null> {
    const { form: _, person: find, ...request } = describe(ctx);
    const person = await find();
    if (!person) return null;
    const { account } = person;
    const inFrame: PageRequest['inFrame'] = (document) => renderInFrame(account, document);
    return { ...request, ...person, ctx, owner: { accountId: account._id }, inFrame };
  }
  const answerWith = async (
    ctx: RequestContext,
    route: string,
    answer: (request: PageRequest) => Answer | Promise<Answer>,
    form?: Form,
  ): Promise<void> => {
    const request = await signedInRequest(ctx);
    if (!request) return respond(ctx, { redirectTo: signInPath(ctx) });
    const { account } = request;
    if (!mayUse(account.member.role, route) && !(form && hasGivenUpRight(ctx, route, account, form))) {
      return respond(ctx, { html: refusedPage(account), status: 403 });
    }
    respond(ctx, await answer(request));
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
    const sent = sentForm(_id, form.text(formIdField), cookie(ctx).read());
    return teamForms.some(({ id }) => id === sent.id);
  }
  const answerScript = async (
    ctx: RequestContext,
    route: string,
    answer: (request: PageRequest) => Promise<void>,
  ): Promise<void> => {
    const request = await signedInRequest(ctx);
    if (request && mayUse(request.account.member.role, route)) return answer(request);
    ctx.status = request ? 403 : 401;
    ctx.body = '';
  };
  return {
    page: (path: string, show: (request: PageRequest) => Answer | Promise<Answer>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) => answerWith(ctx, `GET ${path}`, show),
    }),
    /** Data for a page's script. Answers 401 without a session, because a script cannot sign in. */
    data: (path: string, show: (request: PageRequest) => Promise<Answer>): DashboardRoute => ({
      method: 'GET',
      path,
      handle: (ctx) =>
        answerScript(ctx, `GET ${path}`, async (request) => {
          respond(ctx, await show(request));
        }),
    }),
    /**
     * Data for a page's script, from fields that must not be in a URL, because proxies log URLs. Changes nothing.
     * Answers 401 without a session.
     */
    ask: (path: string, show: (request: PageRequest & { form: Form }) => Promise<Answer>): DashboardRoute => ({
      method: 'POST',
      path,
      handle: async (ctx) => {
        const form = await readForm(ctx);
        await answerScript(ctx, `POST ${path}`, async (request) => {
          respond(ctx, await show({ ...request, form }));
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
          const sent = sentForm(account._id, formIdOf(form), cookie(ctx).read());
          return act({ ...request, form, sent, arrivedAt });
        };
        await answerWith(ctx, `POST ${path}`, changeOnce, form);
      },
    }),
  };
}

/** The URL of the sign-in page, which leads back to the requested page, unless the request has sent a form. */
function signInPath(ctx: RequestContext): string {
  return ctx.method === 'GET' && ctx.path !== '/dashboard'
    ? `/dashboard?next=${encodeURIComponent(ctx.url)}`
    : '/dashboard';
}

/** The requester of an attempt, which is recorded with it. */
export const requesterOf = ({ owner, requestId, sent }: FormRequest): Requester => ({
  ...owner,
  requestId,
  form: sent.id,
});

/** The origin of a change that a form of the dashboard makes. */
export const originOf = ({ requestId, sent }: FormRequest): Origin => ({
  by: 'dashboard',
  requestId,
  form: sent.id,
});
