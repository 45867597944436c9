import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import { driverSessions } from '../../shared/drivers/driver.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import type { Gateway } from '../drivers/gateway.ts';
import { refuseForeignChanges } from '../http/credentials.ts';
import { redirectToHttps, requireHttps } from '../http/forwarded.ts';
import { jsonError } from '../http/handle-errors.ts';
import { isBelow, namesOf, routerOf } from '../http/route.ts';
import { dataHeaders, pageHeaders } from '../http/security-headers.ts';
import type { Part, RequestContext } from '../part.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { plainRideRoutes } from './plain-ride-routes.ts';
import { authenticateBySession, driverCookie, signInRoutes } from './sign-in-routes.ts';

const base = '/drive';
const dataBase = `${base}/api`;

/** The driver's page: the data for its script, with errors as JSON, and the pages. */
export const driveParts = (service: Context, gateway: Gateway): Part[] => [
  dataPart(service, gateway),
  pagePart(service),
];

/** The routes of the drivers' gateway for the page, authenticated by session. */
function dataPart(service: Context, gateway: Gateway): Part {
  const { config } = service;
  const bySession = authenticateBySession(service);
  const cookie = driverCookie(config);
  const sessions = endWithSessions(service, driverSessions.living);
  const routes = gateway.routes(bySession, (ctx, stream) => sessions.add(stream, cookie.read(ctx)));
  return {
    name: 'drive-data',
    owns: isBelow(dataBase),
    headers: new Map([...dataHeaders, ['Cache-Control', 'no-store']]),
    routes: () => namesOf(dataBase, routes),
    handle: compose<RequestContext>([requireHttps(config), refuseForeignChanges(config), routerOf(dataBase, routes)]),
    renderError: jsonError,
    async close() {
      sessions.close();
    },
  };
}

function pagePart(service: Context): Part {
  const { config } = service;
  const routes = [...signInRoutes(service), ...plainRideRoutes(service)];
  return {
    name: 'drive',
    owns: isBelow(base),
    headers: new Map([...pageHeaders({ uses: ['geolocation', 'screen-wake-lock'] }), ['Cache-Control', 'no-store']]),
    routes: () => namesOf(base, routes),
    handle: compose<RequestContext>([redirectToHttps(config), refuseForeignChanges(config), routerOf(base, routes)]),
    renderError: pageError,
  };
}
