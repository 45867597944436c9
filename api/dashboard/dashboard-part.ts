import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { publicRoutes } from '../../web/dashboard/pages.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import { refuseForeignChanges } from '../http/credentials.ts';
import { redirectToHttps } from '../http/forwarded.ts';
import { isBelow, namesOf, routerOf } from '../http/route.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Part, RequestContext } from '../part.ts';
import type { RideCreation } from '../rides/creation.ts';
import { handleWith } from '../web-part.ts';
import { followKeys } from './key-views.ts';
import { type DashboardRoute, describeForDashboard } from './page-routes.ts';
import { type NewsStreams, newsView } from './rides/follow-ride.ts';
import { rideRoutes } from './rides/ride.tsx';
import { dashboardStreams } from './streams.ts';
import { type PageParts, webRoutes } from './web-pages.ts';

export const dashboardBase = '/dashboard';

/** The objects that the dashboard shares with other parts of the process. */
interface SharedParts {
  wake: Wake;
  creation: RideCreation;
  /** The page that lists the service's mails, in a development stack. */
  mailPage?: string;
}

/** The dashboard (contract, sections 1 and 5): pages on which partners sign in and manage their keys. */
export function dashboardPart(service: Context, { wake, creation, mailPage }: SharedParts): Part {
  const { config } = service;
  const streams = dashboardStreams(service, wake);
  const keyViews = followKeys(service, wake);
  const routes = dashboardRoutes(service, {
    creation,
    keyViews,
    openStream: streams.open,
    streams: streams.of(newsView),
    mailPage: config.secrets.smtpUrl ? undefined : mailPage,
  });
  const tileOrigin = config.tiles && new URL(config.tiles.url).origin;
  return {
    name: 'dashboard',
    owns: isBelow(dashboardBase),
    headers: new Map([
      // Some tile servers refuse requests without a referrer.
      ...pageHeaders({ tileOrigin, referrer: tileOrigin ? 'strict-origin' : 'same-origin' }),
      ['Cache-Control', 'no-store'],
    ]),
    routes: () => namesOf(dashboardBase, routes),
    handle: compose<RequestContext>([
      redirectToHttps(config),
      refuseForeignChanges(config),
      routerOf(dashboardBase, routes),
    ]),
    renderError: pageError,
    endHeld: streams.endAll,
    async close() {
      keyViews.close();
      streams.close();
    },
  };
}

/** The objects of the process that the routes use. */
export interface DashboardParts extends PageParts {
  /** The streams of the rides' pages. */
  streams: NewsStreams;
}

/** Every route of the dashboard. Those that need no session come first: one of them answers `/dashboard` without one. */
export function dashboardRoutes(service: Context, { streams, ...pageParts }: DashboardParts): DashboardRoute[] {
  const describe = describeForDashboard(service, pageParts.mailPage);
  return [
    ...publicRoutes.map(({ answer, ...route }) => ({ ...route, handle: handleWith(describe, answer) })),
    ...rideRoutes(service, streams),
    ...webRoutes(service, pageParts),
  ];
}
