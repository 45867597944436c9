import Router from '@koa/router';
import compose from 'koa-compose';
import type { Context } from '../../shared/context.ts';
import type { Wake } from '../../shared/wake.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { refuseForeignChanges } from '../http/same-origin.ts';
import { pageHeaders } from '../pages/headers.ts';
import { pageError } from '../pages/page-error.ts';
import { redirectToHttps } from '../pages/redirect-to-https.ts';
import type { Part } from '../part.ts';
import type { RideCreation } from '../partner/creation.ts';
import type { Middleware, RequestContext, RequestState } from '../types.ts';
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
  const router = new Router<RequestState>({ prefix: dashboardBase });
  for (const { method, path, handle, isStream } of dashboardRoutes(service, { creation, streams })) {
    router.register(path, [method], isStream ? [handle] : [answerInTime, handle]);
  }
  return {
    name: 'dashboard',
    owns: (path) => path === dashboardBase || path.startsWith(`${dashboardBase}/`),
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([
      redirectToHttps(config),
      refuseForeignChanges(config),
      router.routes() as unknown as Middleware,
    ]),
    renderError: pageError,
    endHeld: streams.endAll,
    async close() {
      streams.close();
    },
  };
}
