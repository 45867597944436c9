import compose from 'koa-compose';
import type { Context } from '../../shared/context.ts';
import { sha256 } from '../../shared/ids.ts';
import type { Wake } from '../../shared/wake.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { givenKey } from '../http/given-key.ts';
import { jsonError } from '../http/json-error.ts';
import { requireHttps } from '../http/require-https.ts';
import { type Route, routerOf } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import { createStreams } from '../pages/streams.ts';
import type { Part } from '../part.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { authenticateDriver } from './authenticate.ts';
import { followDrivers } from './followed-drivers.ts';
import { driverRoutes } from './routes.ts';

const base = '/drivers/v1';
/** A phone that has lost its connection opens another one before the service notices. */
const streamsPerDriver = 5;

/** The drivers' gateway, which takes drivers' keys alone. Without one, every path below it answers 401. */
export function driversPart(service: Context, wake: Wake): Part {
  const { config } = service;
  const streams = createStreams({ all: config.streams.all, perClient: streamsPerDriver });
  const followed = followDrivers(service, wake);
  const authenticate = authenticateDriver();
  const stream: Route = {
    method: 'GET',
    path: '/stream',
    async handle(ctx) {
      const { driverId } = await authenticate(ctx);
      followed.follow(driverId, sha256(givenKey(ctx)), streams.open(ctx, driverId));
    },
  };
  const requireKey: Middleware = async (ctx, next) => {
    await authenticate(ctx);
    await next();
  };
  return {
    name: 'drivers',
    owns: (path) => path === base || path.startsWith(`${base}/`),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([
      requireHttps(config),
      // A stream is never answered in time: it goes on.
      routerOf(base, [stream]),
      answerInTime,
      routerOf(base, driverRoutes(service)),
      requireKey,
    ]),
    renderError: jsonError,
    endHeld: streams.endAll,
    async close() {
      streams.close();
      followed.close();
    },
  };
}
