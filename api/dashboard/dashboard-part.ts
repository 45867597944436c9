import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import { refuseForeignChanges } from '../http/credentials.ts';
import { redirectToHttps } from '../http/forwarded.ts';
import { isBelow, namesOf, routerOf } from '../http/route.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Part, RequestContext } from '../part.ts';
import type { RideCreation } from '../rides/creation.ts';
import { followKeys } from './key-views.ts';
import { overviewRoutes } from './overview/overview.tsx';
import type { DashboardRoute } from './page-routes.ts';
import { type NewsStreams, newsView } from './rides/follow-ride.ts';
import { rideRoutes } from './rides/ride.tsx';
import { confirmRoutes } from './sign-in/confirm.tsx';
import { invitationRoutes } from './sign-in/invitation.ts';
import { linkRoutes } from './sign-in/link.tsx';
import { signInRoutes } from './sign-in/sign-in.tsx';
import { signOutRoutes } from './sign-in/sign-out.ts';
import { dashboardStreams } from './streams.ts';
import { switchRoutes } from './switch.ts';
import { type PageParts, webRoutes } from './web-pages.tsx';

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
  return {
    name: 'dashboard',
    owns: isBelow(dashboardBase),
    headers: new Map([...pageHeaders(config), ['Cache-Control', 'no-store']]),
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
export interface DashboardParts extends PageParts, Pick<SharedParts, 'mailPage'> {
  /** The streams of the rides' pages. */
  streams: NewsStreams;
}

/** Every route of the dashboard. The sign-in routes come first: without a session, they answer `/dashboard`. */
export function dashboardRoutes(
  service: Context,
  { streams, mailPage, ...pageParts }: DashboardParts,
): DashboardRoute[] {
  return [
    ...signInRoutes(service, mailPage),
    ...linkRoutes(service),
    ...invitationRoutes(service),
    ...confirmRoutes(service, mailPage),
    ...signOutRoutes(service),
    ...overviewRoutes(service),
    ...rideRoutes(service, streams),
    ...webRoutes(service, pageParts),
    ...switchRoutes(service),
  ];
}
