import Router from '@koa/router';
import Koa from 'koa';
import mount from 'koa-mount';
import type { Context } from '../../shared/context.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { jsonBody } from '../http/json-body.ts';
import { nameRoute, noRoute } from '../http/no-route.ts';
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
  const face = new Koa<RequestState>();
  face.use(noStore);
  face.use(requireHttps(service.config));
  face.use(nameRoute);
  face.use(readRoutes(service).routes() as Middleware);
  face.use(authenticate(service));
  face.use(otherRoutes(service).routes() as Middleware);
  face.use(noRoute);
  return bases.map((base) => mount(base, face));
}

/** These authenticate for themselves: they read the key and the ride at once. */
function readRoutes(service: Context): Router<RequestState> {
  const router = new Router<RequestState>();
  router.get('/rides/:rideId', answerInTime, retrieve(service));
  router.get('/rides/:rideId/offers', answerInTime, listOffers(service));
  return router;
}

function otherRoutes(service: Context): Router<RequestState> {
  const router = new Router<RequestState>();
  const charge = creationLimiter(service);
  router.get('/', serviceInfo(service.config));
  router.post('/rides', jsonBody, answerInTime, create(service, charge));
  router.post('/rides/:rideId/accept', jsonBody, answerInTime, accept(service));
  router.post('/rides/:rideId/cancel', answerInTime, cancel(service));
  return router;
}
