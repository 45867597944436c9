import compose from 'koa-compose';
import type { Context } from '../../shared/context.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { jsonError } from '../http/json-error.ts';
import { requireHttps } from '../http/require-https.ts';
import { routerOf } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { authenticateByKey } from './authenticate.ts';
import type { Gateway } from './gateway.ts';

const base = '/drivers/v1';

/** The drivers' gateway for programs, which takes drivers' keys alone. Without one, every path below it answers 401. */
export function driversPart({ config }: Pick<Context, 'config'>, gateway: Gateway): Part {
  const byKey = authenticateByKey();
  const requireKey: Middleware = async (ctx, next) => {
    await byKey.authenticate(ctx);
    await next();
  };
  return {
    name: 'drivers',
    owns: (path) => path === base || path.startsWith(`${base}/`),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([
      requireHttps(config),
      // A stream is never answered in time: it goes on.
      routerOf(base, [gateway.stream(byKey.authenticate)]),
      answerInTime,
      routerOf(base, gateway.routes(byKey)),
      requireKey,
    ]),
    renderError: jsonError,
  };
}
