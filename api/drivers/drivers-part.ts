import type { Context } from '../../shared/base/context.ts';
import { driverSessions } from '../../shared/drivers/driver.ts';
import { refuseForeignChanges } from '../http/credentials.ts';
import { requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { routesBelow } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Middleware, Part } from '../part.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { authenticateByKey, authenticateBySession, driverCookie } from './authenticate-driver.ts';
import type { Gateway } from './gateway.ts';

const headers: ReadonlyMap<string, string> = new Map([...dataHeaders, ['Cache-Control', 'no-store']]);

/** The drivers' gateway as an API for drivers' keys. Without a key, every path below it answers 401. */
export function driversPart({ config }: Pick<Context, 'config'>, gateway: Gateway): Part {
  const byKey = authenticateByKey();
  const requireKey: Middleware = (ctx, next) => byKey.authenticate(ctx).then(() => next());
  return {
    name: 'drivers',
    ...routesBelow('/drivers/v1', gateway.routes(byKey), { before: [requireHttps(config)], after: [requireKey] }),
    headers,
    renderError: jsonError,
  };
}

/** The routes of the drivers' gateway for the driver's page, authenticated by session. */
export function driveDataPart(service: Context, gateway: Gateway): Part {
  const { config } = service;
  const cookie = driverCookie(config);
  const sessions = endWithSessions(service, driverSessions.living);
  const routes = gateway.routes(authenticateBySession(service), (ctx, stream) =>
    sessions.add(stream, cookie(ctx).read()),
  );
  return {
    name: 'drive-data',
    ...routesBelow('/drive/api', routes, { before: [requireHttps(config), refuseForeignChanges(config)] }),
    headers,
    renderError: jsonError,
    close: async () => sessions.close(),
  };
}
