import Koa from 'koa';
import type { Context } from '../shared/context.ts';
import { describeError } from '../shared/errors.ts';
import { handleErrors } from './http/handle-errors.ts';
import { noRoute } from './http/no-route.ts';
import { requestLog } from './http/request-log.ts';
import { securityHeaders } from './http/security-headers.ts';
import { wellFormed } from './http/well-formed.ts';
import { healthRoutes } from './ops/health.ts';
import { partnerApi } from './partner/router.ts';
import type { Middleware, RequestState } from './types.ts';

/** The order of middleware and the faces of the service. `more` are faces that only a development stack has. */
export function createApp(service: Context, more: Middleware[] = []): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Errors of a broken connection, after the answer: nothing is left to be answered.
  app.on('error', (error) => service.log.debug({ error: describeError(error) }, 'connection error'));
  app.use(requestLog(service));
  app.use(handleErrors(service.log));
  app.use(securityHeaders);
  app.use(wellFormed);
  for (const face of partnerApi(service)) app.use(face);
  for (const face of more) app.use(face);
  app.use(healthRoutes().routes() as Middleware);
  app.use(noRoute);
  return app;
}
