import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import { requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { isBelow, namesOf, routerOf } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Middleware, Part, RequestContext } from '../part.ts';
import { authenticateByKey } from './authenticate-driver.ts';
import type { Gateway } from './gateway.ts';

const base = '/drivers/v1';

/**
 * The drivers' gateway as an API, which accepts only drivers' keys. Without such a key, every path below it answers
 * 401.
 */
export function driversPart({ config }: Pick<Context, 'config'>, gateway: Gateway): Part {
  const byKey = authenticateByKey();
  const requireKey: Middleware = async (ctx, next) => {
    await byKey.authenticate(ctx);
    await next();
  };
  const routes = gateway.routes(byKey);
  return {
    name: 'drivers',
    owns: isBelow(base),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    routes: () => namesOf(base, routes),
    handle: compose<RequestContext>([requireHttps(config), routerOf(base, routes), requireKey]),
    renderError: jsonError,
  };
}
