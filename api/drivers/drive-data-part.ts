import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import { driverSessions } from '../../shared/drivers/driver.ts';
import { refuseForeignChanges } from '../http/credentials.ts';
import { requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { isBelow, namesOf, routerOf } from '../http/route.ts';
import { dataHeaders } from '../http/security-headers.ts';
import type { Part, RequestContext } from '../part.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { authenticateBySession, driverCookie } from './authenticate-driver.ts';
import type { Gateway } from './gateway.ts';

const base = '/drive/api';

/** The routes of the drivers' gateway for the driver's page, authenticated by session. */
export function driveDataPart(service: Context, gateway: Gateway): Part {
  const { config } = service;
  const bySession = authenticateBySession(service);
  const cookie = driverCookie(config);
  const sessions = endWithSessions(service, driverSessions.living);
  const routes = gateway.routes(bySession, (ctx, stream) => sessions.add(stream, cookie(ctx).read()));
  return {
    name: 'drive-data',
    owns: isBelow(base),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    routes: () => namesOf(base, routes),
    handle: compose<RequestContext>([requireHttps(config), refuseForeignChanges(config), routerOf(base, routes)]),
    renderError: jsonError,
    async close() {
      sessions.close();
    },
  };
}
