import type { Context } from '../../shared/base/context.ts';
import { callerOf } from '../../shared/keys/api-key.ts';
import { findCreated } from '../../shared/rides/create-ride.ts';
import { pages } from '../../web/dashboard/pages.ts';
import type {
  PageRequest as DescribedRequest,
  Document,
  Answer as PageAnswer,
  Section,
  SentRequest,
} from '../../web/kit/answer.ts';
import { renderDocument } from '../../web/kit/document.tsx';
import { clientAddress } from '../http/forwarded.ts';
import { makeChange } from '../http/route.ts';
import { faultsIn, validate } from '../http/validate.ts';
import type { RideCreation } from '../rides/creation.ts';
import { newRideSchema, rideRequest } from '../rides/new-ride.ts';
import { dashboardPage, PageHead } from './frame.tsx';
import type { KeyViews } from './key-views.ts';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  formIdOf,
  originOf,
  type PageRequest,
  sessionCookie,
  signedInRoutes,
  suspended,
} from './page-routes.ts';
import type { DashboardStreams } from './streams.ts';

/** The objects of the process that declared pages use. */
export interface PageParts {
  creation: RideCreation;
  keyViews: KeyViews;
  openStream: DashboardStreams['open'];
}

/** A request without Koa, for code in `web/`. */
export const described = <Request extends PageRequest>(service: Context, { ctx, ...request }: Request) => ({
  ...request,
  service,
  requestId: ctx.state.requestId,
  from: clientAddress(ctx, service),
});

/** The routes of the declared pages: each gets a described request, and its answer becomes a response. */
export function webRoutes(service: Context, { creation, keyViews, openStream }: PageParts): DashboardRoute[] {
  const { page, action, data, ask, stream } = signedInRoutes(service);
  const schema = newRideSchema(service.config);
  const of = (request: PageRequest): DescribedRequest => ({
    ...described(service, request),
    has: (name) => name in request.ctx.query,
    latest: (view, keyId) => keyViews.latest(view, keyId),
  });

  const sentRequest = ({ form, sent, arrivedAt, ...request }: FormRequest): SentRequest => ({
    ...of(request),
    ...{ sent, arrivedAt, formId: formIdOf(form), text: form.text },
    faultsOfRide: (body) => faultsIn(schema, body),
    findCreated: (keyIds) => findCreated(request.owner, keyIds, formIdOf(form)),
    createRide(key, body, scenario) {
      const asked = {
        ...{ key: callerOf(key), request: rideRequest(validate(schema, body)), scenario },
        ...{ idempotencyKey: formIdOf(form), origin: originOf({ form, sent, arrivedAt, ...request }) },
      };
      return makeChange(request.ctx, asked, creation);
    },
  });
  const cookie = sessionCookie(service.config);
  function answerWith({ ctx, account }: PageRequest, section: Section, answer: PageAnswer): Answer {
    if ('suspended' in answer) return suspended;
    if (!('document' in answer)) {
      if ('endsSession' in answer) cookie.clear(ctx);
      return answer;
    }
    const { document, status = 200, headers = {}, code } = answer;
    ctx.set(headers);
    return { html: renderInFrame(account, document.section ?? section, document), status, code };
  }

  return pages.flatMap(({ section, routes }) =>
    routes.map((route) => {
      const { path } = route;
      if ('state' in route) return data(path, (request) => route.state(of(request)));
      if ('stream' in route) {
        return stream(path, async (request) => {
          const followed = await route.stream(of(request));
          keyViews.follow(followed, openStream(request.ctx, request.account));
        });
      }
      if ('ask' in route) {
        return ask(path, async ({ form, ...request }) => {
          const { data, status = 200, headers = {} } = await route.ask({ ...of(request), text: form.text });
          request.ctx.status = status;
          request.ctx.set(headers);
          return data;
        });
      }
      if (route.method === 'GET') {
        return page(path, async (request) => answerWith(request, section, await route.answer(of(request))));
      }
      const { ofPerson, answer } = route;
      return action(path, async (sent) => answerWith(sent, section, await answer(sentRequest(sent))), { ofPerson });
    }),
  );
}

/** A declared page in the frame of the dashboard. */
export function renderInFrame(
  account: PageRequest['account'],
  section: Section,
  { lead, actions, children, heading, isWall, around = (page) => page, ...frame }: Document,
): string {
  if (isWall) {
    const { title, scripts } = frame;
    const content = <main id="main">{children}</main>;
    return renderDocument({
      title,
      kind: 'dashboard wall',
      firstScript: 'dashboard-page.js',
      scripts,
      children: content,
    });
  }
  return dashboardPage({
    ...frame,
    account,
    section,
    children: around(
      <>
        <PageHead title={heading ?? frame.title} actions={actions}>
          {lead}
        </PageHead>
        {children}
      </>,
    ),
  });
}
