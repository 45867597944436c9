import type { Context } from '../../shared/base/context.ts';
import { callerOf } from '../../shared/keys/api-key.ts';
import { findCreated } from '../../shared/rides/create-ride.ts';
import { pages } from '../../web/dashboard/pages.ts';
import type { PageRequest as DescribedRequest, SentRequest } from '../../web/kit/answer.ts';
import { formIdOf } from '../../web/kit/form-fields.ts';
import { makeChange } from '../http/route.ts';
import { faultsIn, validate } from '../http/validate.ts';
import type { RideCreation } from '../rides/creation.ts';
import { newRideSchema, rideRequest } from '../rides/new-ride.ts';
import type { KeyViews } from './key-views.ts';
import { type DashboardRoute, type FormRequest, originOf, type PageRequest, signedInRoutes } from './page-routes.ts';
import type { DashboardStreams } from './streams.ts';

/** The objects of the process that declared pages use. */
export interface PageParts {
  creation: RideCreation;
  keyViews: KeyViews;
  openStream: DashboardStreams['open'];
  /** The page that lists the service's mails, in a development stack that sends none. */
  mailPage?: string;
}

/** The routes of the declared pages: each gets a described request, and its answer becomes a response. */
export function webRoutes(service: Context, { creation, keyViews, openStream, mailPage }: PageParts): DashboardRoute[] {
  const { page, action, data, ask, stream } = signedInRoutes(service, mailPage);
  const schema = newRideSchema(service.config);
  const of = ({ ctx: _, ...request }: PageRequest): DescribedRequest => ({
    ...request,
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

  return pages.flatMap(({ routes }) =>
    routes.map((route) => {
      const { path } = route;
      if ('stream' in route) {
        return stream(path, async (request) => {
          const followed = await route.stream(of(request));
          keyViews.follow(followed, openStream(request.ctx, request.account));
        });
      }
      if ('ask' in route) return ask(path, ({ form, ...request }) => route.ask({ ...of(request), text: form.text }));
      if (route.method === 'GET') return (route.ofScript ? data : page)(path, (request) => route.answer(of(request)));
      return action(path, (sent) => route.answer(sentRequest(sent)), { ofPerson: route.ofPerson });
    }),
  );
}
