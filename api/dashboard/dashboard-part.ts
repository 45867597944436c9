import Router from '@koa/router';
import compose from 'koa-compose';
import type { Context } from '../../shared/context.ts';
import { answerInTime } from '../http/answer-in-time.ts';
import { pageHeaders } from '../pages/headers.ts';
import { pageError } from '../pages/page-error.ts';
import { redirectToHttps } from '../pages/redirect-to-https.ts';
import type { Part } from '../part.ts';
import type { Middleware, RequestContext, RequestState } from '../types.ts';
import { dashboardRoutes } from './routes.ts';
import { refuseForeignChanges } from './same-origin.ts';

export const dashboardBase = '/dashboard';

/** The dashboard (contract, sections 1 and 5): pages on which partners sign in and manage their keys. */
export function dashboardPart(service: Context): Part {
  const { config } = service;
  const router = new Router<RequestState>({ prefix: dashboardBase });
  for (const { method, path, handle } of dashboardRoutes(service)) router.register(path, [method], handle);
  return {
    name: 'dashboard',
    owns: (path) => path === dashboardBase || path.startsWith(`${dashboardBase}/`),
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-store']]),
    handle: compose<RequestContext>([
      redirectToHttps(config),
      refuseForeignChanges(config),
      answerInTime,
      router.routes() as unknown as Middleware,
    ]),
    renderError: pageError,
  };
}
