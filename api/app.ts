import Koa from 'koa';
import type { Context } from '../shared/base/context.ts';
import { describeError } from '../shared/base/errors.ts';
import { connectSubscriberRedis } from '../shared/base/redis/redis.ts';
import { subscribeToRideChanges } from '../shared/base/wake.ts';
import type { OpsOptions } from '../shared/process/ops/ops-server.ts';
import { docsPages } from '../web/docs/docs.ts';
import { drivePages } from '../web/drive/drive.ts';
import { frontPages } from '../web/front.tsx';
import { assetPages } from '../web/kit/asset-pages.ts';
import { operatorsPages } from '../web/operators/operators.tsx';
import { trackPages, trackView } from '../web/track/track.ts';
import { dashboardPart } from './dashboard/dashboard-part.ts';
import { signedInDrivers } from './drivers/authenticate-driver.ts';
import { driveDataPart, driversPart } from './drivers/drivers-part.ts';
import { createGateway } from './drivers/gateway.ts';
import { healthPart } from './health/health-part.ts';
import { answerInTime } from './http/answer-in-time.ts';
import { operatorsCookie, refuseForeignChanges } from './http/credentials.ts';
import { findPart, refuseMalformed, refuseUnknownRoute } from './http/find-part.ts';
import { clientNetwork, redirectToHttps } from './http/forwarded.ts';
import { handleErrors } from './http/handle-errors.ts';
import { logRequest, traceRequest } from './http/log-and-trace.ts';
import type { App } from './http/serve.ts';
import { callbackPart } from './messages/callback-part.ts';
import { operations } from './operations.ts';
import type { Part, RequestContext, RequestState } from './part.ts';
import { partnerParts } from './partner/partner-part.ts';
import { createForRequests } from './rides/create-for-request.ts';
import { followRides } from './streams/followed-rides.ts';
import { tileFilePart } from './tile-file-part.ts';
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

/** Creates the parts. `more` is only for development and tests; `limitMs`, a request's time limit, only for tests. */
export function createApp(service: Context, more: Part[] = [], limitMs?: number): App & { parts: readonly Part[] } {
  const wake = subscribeToRideChanges(connectSubscriberRedis(service.config.secrets.redisUrl, service.log));
  const createRide = createForRequests(service);
  const gateway = createGateway(service, wake);
  const tracked = followRides(service, wake, trackView);
  const toHttps = { before: [redirectToHttps(service.config)] };
  const parts = [
    ...partnerParts(service, { wake, createRide }),
    driversPart(service, gateway),
    driveDataPart(service, gateway),
    webPart(service, drivePages(service), {
      before: [redirectToHttps(service.config), refuseForeignChanges(service.config)],
      more: signedInDrivers(service),
    }),
    webPart(service, trackPages(service, tracked.follow), toHttps),
    dashboardPart(service, { wake, createRide, mailPage: more.find(({ mailPage }) => mailPage)?.mailPage }),
    webPart(service, docsPages(operations, service.config), toHttps),
    webPart(service, assetPages()),
    callbackPart(service),
    ...tileFilePart(service.config),
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

/** The parts at the operators' port; none if the settings turn them off. */
export async function operatorsParts(service: Context): Promise<Part[]> {
  const pages = await operatorsPages(service);
  if (pages.length === 0) return [];
  const more = (ctx: RequestContext) => ({
    cookie: operatorsCookie(ctx),
    // No proxy is in front of this port.
    client: () => clientNetwork(ctx.req.socket.remoteAddress ?? 'unknown'),
  });
  return [...pages.map((each) => webPart(service, each, { more })), webPart(service, assetPages())];
}

/** Serves the parts at the operators' port. */
export async function operatorsListener(service: Context): Promise<OpsOptions['pages']> {
  const parts = await operatorsParts(service);
  if (parts.length === 0) return undefined;
  return { owns: (path) => parts.some((part) => part.owns(path)), listener: listenerOf(service, parts) };
}
