import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import { refuseForeignChanges } from '../http/credentials.ts';
import { redirectToHttps } from '../http/forwarded.ts';
import { routesBelow } from '../http/route.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';
import type { RideCreation } from '../rides/creation.ts';
import { dashboardStreams } from './dashboard-streams.ts';
import { dashboardRoutes } from './web-pages.ts';

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
  const routes = dashboardRoutes(service, {
    ...{ creation, streams, mailPage: config.secrets.smtpUrl ? undefined : mailPage },
  });
  return {
    name: 'dashboard',
    ...routesBelow(dashboardBase, routes, { before: [redirectToHttps(config), refuseForeignChanges(config)] }),
    headers: new Map([...pageHeaders(config), ['Cache-Control', 'no-store']]),
    renderError: pageError,
    endHeld: streams.endAll,
    close: async () => streams.close(),
  };
}
