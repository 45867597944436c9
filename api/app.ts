import Koa from 'koa';
import type { Context } from '../shared/base/context.ts';
import { describeError } from '../shared/base/errors.ts';
import { subscribeToRideChanges } from '../shared/base/wake.ts';
import { frontPages } from '../web/front.tsx';
import { assetPages } from '../web/kit/asset-pages.ts';
import { trackPages, trackView } from '../web/track/track.ts';
import { dashboardPart } from './dashboard/dashboard-part.ts';
import { docsPart } from './docs/docs-part.ts';
import { driveParts } from './drive/drive-parts.ts';
import { driversPart } from './drivers/drivers-part.ts';
import { createGateway } from './drivers/gateway.ts';
import { answerInTime } from './http/answer-in-time.ts';
import { findPart, refuseMalformed, refuseUnknownRoute } from './http/find-part.ts';
import { redirectToHttps } from './http/forwarded.ts';
import { handleErrors } from './http/handle-errors.ts';
import { logRequest, traceRequest } from './http/log-and-trace.ts';
import type { App } from './http/serve.ts';
import { healthPart } from './ops/health-part.ts';
import type { Part, RequestState } from './part.ts';
import { partnerParts } from './partner/partner-part.ts';
import { rideCreation } from './rides/creation.ts';
import { followRides } from './streams/followed-rides.ts';
import { webPart } from './web-part.ts';

/**
 * The middleware of a request, in the order in which it runs. `serve` runs the requests of a connection one after the
 * other. `handleErrors` turns an error of a later middleware into the response.
 */
export function listenerOf(service: Context, parts: readonly Part[], limitMs?: number): ReturnType<App['callback']> {
  const app = new Koa<RequestState>();
  // The connection broke after the response was built, so no client is left to answer.
  app.on('error', (error) => service.log.debug({ error: describeError(error) }, 'connection error'));
  app.use(logRequest(service));
  app.use(findPart(parts, service.config));
  if (service.tracing) app.use(traceRequest(service.tracing));
  app.use(handleErrors(service.log));
  app.use(answerInTime(service.log, limitMs));
  app.use(refuseMalformed);
  // The part requires HTTPS, routes the request, authenticates its caller and answers, or calls `next`.
  app.use((ctx, next) => ctx.state.part.handle(ctx, next));
  app.use(refuseUnknownRoute);
  return app.callback();
}

/**
 * Creates the parts of the service. `more`: parts that exist only in development or in a test. `limitMs`: the time limit
 * of a request, which only a test changes.
 */
export function createApp(service: Context, more: Part[] = [], limitMs?: number): App & { parts: readonly Part[] } {
  const wake = subscribeToRideChanges(service);
  const creation = rideCreation(service);
  const gateway = createGateway(service, wake);
  const tracked = followRides(service, wake, trackView);
  const toHttps = { before: [redirectToHttps(service.config)] };
  const parts = [
    ...partnerParts(service, { wake, creation }),
    driversPart(service, gateway),
    ...driveParts(service, gateway),
    webPart(service, trackPages(service, tracked.follow), toHttps),
    dashboardPart(service, { wake, creation, mailPage: more.find(({ mailPage }) => mailPage)?.mailPage }),
    docsPart(service),
    webPart(service, assetPages()),
    ...more,
    healthPart(service),
    // The last one, because it owns every path.
    webPart(service, frontPages(), toHttps),
  ];
  return {
    parts,
    callback: () => listenerOf(service, parts, limitMs),
    endHeld() {
      gateway.endStreams();
      for (const part of parts) part.endHeld?.();
    },
    async close() {
      await Promise.all(parts.map((part) => part.close?.()));
      tracked.close();
      gateway.close();
      wake.close();
    },
  };
}
