import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import { refuseForeignChanges } from '../http/credentials.ts';
import { redirectToHttps } from '../http/forwarded.ts';
import { routesBelow } from '../http/route.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';
import { dashboardStreams } from './dashboard-streams.ts';
import { dashboardRoutes, type PageParts } from './web-pages.ts';

export const dashboardBase = '/dashboard';

/** The dashboard (contract, sections 1 and 5): pages on which partners sign in and manage their keys. */
export function dashboardPart(
  service: Context,
  { wake, createRide, mailPage }: Omit<PageParts, 'streams'> & { wake: Wake },
): Part {
  const { config } = service;
  const streams = dashboardStreams(service, wake);
  const shownMailPage = config.secrets.smtpUrl ? undefined : mailPage;
  const routes = dashboardRoutes(service, { createRide, streams, mailPage: shownMailPage });
  return {
    name: 'dashboard',
    ...routesBelow(dashboardBase, routes, { before: [redirectToHttps(config), refuseForeignChanges(config)] }),
    headers: new Map([...pageHeaders(config), ['Cache-Control', 'no-store']]),
    renderError: pageError,
    endHeld: streams.endAll,
    close: async () => streams.close(),
  };
}
