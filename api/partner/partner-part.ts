import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { routesBelow } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Middleware, Part } from '../part.ts';
import type { CreateForRequest } from '../rides/create-for-request.ts';
import { waitingPolls } from '../streams/waiting-polls.ts';
import { authenticate } from './authenticate.ts';
import { partnerRoutes } from './routes.ts';

/** The versioned base and its older equivalent (contract, section 9): the same routes, keys, rides and limits. */
const bases = ['/v1', '/api/v1'];

const headers: ReadonlyMap<string, string> = new Map([
  ...dataHeaders,
  ['Cache-Control', 'no-store'],
  // Every answer is JSON. Without this header, Koa would look up the type for each answer.
  ['Content-Type', 'application/json; charset=utf-8'],
]);

/** The partner API (contract, section 4), once for each base. Without a key, every path under a base answers 401. */
export function partnerParts(
  service: Context,
  { wake, createRide }: { wake: Wake; createRide: CreateForRequest },
): Part[] {
  const polls = waitingPolls(service, wake);
  const findCaller = authenticate(service);
  const routes = partnerRoutes({ service, findCaller, createRide, polls });
  const before = [requireHttps(service.config)];
  // Each route authenticates its own requests. This handles only paths and methods without a route.
  const after: Middleware[] = [(ctx, next) => findCaller(ctx).then(() => next())];
  return bases.map((base) => ({
    name: 'partner',
    ...routesBelow(base, routes, { before, after }),
    headers,
    renderError: jsonError,
    endHeld: polls.endAll,
    close: async () => polls.close(),
  }));
}
