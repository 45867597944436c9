import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { namesOf, routerOf } from '../http/route.ts';
import { refuseForeignChanges } from '../http/credentials.ts';
import { pageHeaders } from '../http/security-headers.ts';
import { pageError } from '../pages/error-page.tsx';
import { redirectToHttps } from '../http/forwarded.ts';
import type { Part, RequestContext } from '../part.ts';
import type { RideCreation } from '../rides/creation.ts';
import { consoleStreams } from './console/console-streams.ts';
import { dashboardRoutes } from './routes.ts';

export const dashboardBase = '/dashboard';

/** What the dashboard uses together with other parts of its process. */
interface SharedParts {
  wake: Wake;
  creation: RideCreation;
}

/** The dashboard (contract, sections 1 and 5): pages on which partners sign in and manage their keys. */
export function dashboardPart(service: Context, { wake, creation }: SharedParts): Part {
  const { config } = service;
  const streams = consoleStreams(service, wake);
  const routes = dashboardRoutes(service, { creation, streams });
  return {
    name: 'dashboard',
    owns: (path) => path === dashboardBase || path.startsWith(`${dashboardBase}/`),
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    routes: () => namesOf(dashboardBase, routes),
    handle: compose<RequestContext>([
      redirectToHttps(config),
      refuseForeignChanges(config),
      routerOf(dashboardBase, routes),
    ]),
    renderError: pageError,
    endHeld: streams.endAll,
    async close() {
      streams.close();
    },
  };
}
