import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { sentForm } from '../../shared/accounts/sent-form.ts';
import { accountOfSession } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import { callerOf } from '../../shared/keys/find-caller.ts';
import { findCreated } from '../../shared/rides/create-ride.ts';
import { renderInFrame } from '../../web/dashboard/frame.tsx';
import { pages, publicRoutes } from '../../web/dashboard/pages.ts';
import { otherAccountPage, refusedPage } from '../../web/dashboard/refused-pages.tsx';
import {
  type Answer,
  type OfDashboard,
  type PageRequest,
  type Person,
  type PublicRequest,
  type SentRequest,
  sessionCookie,
} from '../../web/kit/answer.ts';
import { suspended } from '../../web/kit/error-page.tsx';
import { accountField, formIdField, formIdOf } from '../../web/kit/form-fields.ts';
import type { PageRoute as DeclaredRoute } from '../../web/kit/page.tsx';
import { changeByDesk } from '../../web/kit/record-change.ts';
import { type Form, readForm } from '../http/body.ts';
import { hostCookie } from '../http/credentials.ts';
import { clientAddress } from '../http/forwarded.ts';
import type { Route } from '../http/route.ts';
import { faultsIn, validate } from '../http/validate.ts';
import type { RequestContext } from '../part.ts';
import type { CreateForRequest } from '../rides/create-for-request.ts';
import { manualOfferSchema } from '../rides/field-types.ts';
import { changedTerms, changedTermsSchema, newRideSchema, rideRequest } from '../rides/new-ride.ts';
import { describeRequest, handleWith, respond } from '../web-part.ts';
import type { DashboardStreams } from './dashboard-streams.ts';

/** The objects of the process that pages use. */
export interface PageParts {
  createRide: CreateForRequest;
  streams: DashboardStreams;
  /** The page that lists the service's mails, in a development stack that sends none. */
  mailPage?: string;
}

/** A form that was sent, and the time at which its request arrived. */
interface Sent {
  form: Form;
  arrivedAt: Date;
}

const noForm: Form = { text: () => '' };

/**
 * Every route of the dashboard: each gets a described request, and its answer becomes a response. Those that need no
 * session come first: one of them answers `/dashboard` without one.
 *
 * For the others, a request without a session is redirected to the sign-in page, which leads back to the page. A member
 * whose role may not use the route gets a 403. A script gets an empty 401 or 403, because it cannot sign in.
 */
export function dashboardRoutes(service: Context, { createRide, streams, mailPage }: PageParts): Route[] {
  const cookie = hostCookie(service.config, sessionCookie);
  const schema = newRideSchema(service.config);
  const changedSchema = changedTermsSchema(service.config);

  const describe = (ctx: RequestContext): PublicRequest & OfDashboard => ({
    ...describeRequest(ctx, service),
    ...{ service, from: clientAddress(ctx, service), mailPage },
    async person() {
      const token = cookie(ctx).read();
      return token ? accountOfSession(token, service.now()) : null;
    },
  });

  function describeSignedIn(ctx: RequestContext, person: Person): PageRequest {
    const { form: _, person: _person, ...request } = describe(ctx);
    const { latest, followKey, followRide } = streams;
    return {
      ...{ ...request, ...person, latest, followKey, followRide, owner: { accountId: person.account._id } },
      inFrame: (document) => renderInFrame(person.account, document),
    };
  }

  function describeSent(ctx: RequestContext, request: PageRequest, { form, arrivedAt }: Sent): SentRequest {
    const { account, owner, requestId } = request;
    const formId = formIdOf(form);
    const sent = sentForm(account._id, formId, cookie(ctx).read());
    return {
      ...{ ...request, sent, arrivedAt, formId, text: form.text },
      faultsOfRide: (body) => faultsIn(schema, body),
      faultsOfOffer: (body) => faultsIn(manualOfferSchema, body),
      async changeRide(ride, body) {
        const faults = faultsIn(changedSchema, body);
        if (Object.keys(faults).length > 0) return faults;
        // An empty field removes what the ride has, also if it is no text.
        const emptied = Object.entries(body).flatMap(([name, value]) => (value === undefined ? [[name, '']] : []));
        const terms = { ...changedTerms(validate(changedSchema, body)), ...Object.fromEntries(emptied) };
        await changeByDesk({ ...request, sent }, ride, terms);
        return {};
      },
      findCreated: (keyIds) => findCreated(owner, keyIds, formId),
      createRide(key, body, scenario) {
        const origin = { by: 'dashboard' as const, requestId, form: sent.id };
        const asked = { key: callerOf(key), request: rideRequest(validate(schema, body)), scenario };
        return createRide(ctx, { ...asked, idempotencyKey: formId, origin });
      },
    };
  }

  /** True for a repeat of a form whose change took away the sender's right. It only completes the effects. */
  function hasGivenUpRight(
    ctx: RequestContext,
    { method, path }: DeclaredRoute,
    { _id, teamForms = [] }: CurrentAccount,
    form: Form,
  ): boolean {
    // Only these routes look for the form in `teamForms` before they act.
    if (method !== 'POST' || !path.startsWith('/team/')) return false;
    const sent = sentForm(_id, form.text(formIdField), cookie(ctx).read());
    return teamForms.some(({ id }) => id === sent.id);
  }

  /**
   * The answer to a person. A form that changes something gets a 400 without the form id, a 403 while the account is
   * suspended, and a 409 if it is of a page that was rendered for another account. A form `ofPerson` changes no account,
   * so it is always accepted.
   */
  function answer(ctx: RequestContext, route: DeclaredRoute, person: Person, sent: Sent): Answer | Promise<Answer> {
    const { account } = person;
    if (!route.roles.includes(account.member.role) && !hasGivenUpRight(ctx, route, account, sent.form))
      return { html: route.ofScript ? '' : refusedPage(account), status: 403 };
    const request = describeSignedIn(ctx, person);
    if (route.method === 'GET') return route.answer(request);
    if ('ask' in route) return route.ask({ ...request, text: sent.form.text });
    if (account.suspendedAt && !route.ofPerson) return suspended;
    const of = sent.form.text(accountField);
    if (!route.ofPerson && of !== account._id) return { html: otherAccountPage(account, of), status: 409 };
    return route.answer(describeSent(ctx, request, sent));
  }

  const handle = (route: DeclaredRoute) => async (ctx: RequestContext) => {
    const arrivedAt = new Date(service.now());
    // Before the session, because the member may lose a right until a slow body has arrived.
    const form = route.method === 'POST' ? await readForm(ctx) : noForm;
    const person = await describe(ctx).person();
    if (person) {
      const answered = await answer(ctx, route, person, { form, arrivedAt });
      respond(ctx, answered, () => streams.open(ctx, person.account));
    } else respond(ctx, route.ofScript ? { html: '', status: 401 } : { redirectTo: signInPath(ctx) });
  };

  return [
    ...publicRoutes.map(({ answer, ...route }) => ({ ...route, handle: handleWith(describe, answer) })),
    ...pages.flatMap(({ routes }) =>
      routes.map((route) => ({ method: route.method, path: route.path, handle: handle(route) })),
    ),
  ];
}

/** The URL of the sign-in page, which leads back to the requested page, unless the request has sent a form. */
function signInPath(ctx: RequestContext): string {
  return ctx.method === 'GET' && ctx.path !== '/dashboard'
    ? `/dashboard?next=${encodeURIComponent(ctx.url)}`
    : '/dashboard';
}
