import Router from '@koa/router';
import compose from 'koa-compose';
import type { Context } from '../../shared/context.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { jsonBody } from '../http/json-body.ts';
import { noRoute } from '../http/no-route.ts';
import { noStore } from '../http/security-headers.ts';
import type { Middleware, RequestState } from '../types.ts';
import { authenticate } from './authenticate.ts';
import { accept, listOffers } from './offers.ts';
import { creationLimiter } from './rate-limit.ts';
import { requireHttps } from './require-https.ts';
import { cancel, create, retrieve } from './rides.ts';
import { serviceInfo } from './service-info.ts';

/** The versioned base and its older equivalent (contract, section 9): the same routes, keys, rides and counters. */
const bases = ['/v1', '/api/v1'];

/** The partners' API (contract, section 4). Without a key nothing under its bases is told from anything else. */
export function partnerApi(service: Context): Middleware[] {
  const httpsOnly = requireHttps(service.config);
  const authenticated = authenticate(service);
  const handlers = handlersOf(service);
  return bases.map((base) => {
    const face = compose<Parameters<Middleware>[0]>([
      noStore,
      httpsOnly,
      answerInTime,
      readRoutes(base, handlers),
      authenticated,
      otherRoutes(base, handlers),
      noRoute,
    ]);
    return (ctx, next) => (ctx.path === base || ctx.path.startsWith(`${base}/`) ? face(ctx, next) : next());
  });
}

const handlersOf = (service: Context) => ({
  info: serviceInfo(service.config),
  create: create(service, creationLimiter(service)),
  retrieve: retrieve(service),
  listOffers: listOffers(service),
  accept: accept(service),
  cancel: cancel(service),
});
type Handlers = ReturnType<typeof handlersOf>;

/** These authenticate for themselves: they read the key and the ride at once. */
function readRoutes(base: string, { retrieve, listOffers }: Handlers): Middleware {
  const router = new Router<RequestState>({ prefix: base });
  router.get('/rides/:rideId', retrieve);
  router.get('/rides/:rideId/offers', listOffers);
  return router.routes() as Middleware;
}

function otherRoutes(base: string, { info, create, accept, cancel }: Handlers): Middleware {
  const router = new Router<RequestState>({ prefix: base });
  router.get('/', info);
  router.post('/rides', jsonBody, create);
  router.post('/rides/:rideId/accept', jsonBody, accept);
  router.post('/rides/:rideId/cancel', cancel);
  return router.routes() as Middleware;
}
