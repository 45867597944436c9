import { randomUUID } from 'node:crypto';
import type { Context } from '../../shared/context.ts';
import { httpDuration, httpRequests } from '../../shared/metrics/metrics.ts';
import type { Middleware } from '../types.ts';

/**
 * Gives each request an id, the client's own where it may be kept, sent as X-Request-Id, and logs one line for it, with the
 * ids of the ride and of who asked. The line has the route's pattern, never the path: a path can hold a track token. Only in
 * development it also has the path where no route matched, unless it belongs to the live map.
 */
export function requestLog({ log, config }: Context): Middleware {
  const isDevelopment = config.environment === 'development';
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.state.requestId = givenRequestId(ctx.get('x-request-id')) ?? randomUUID();
    ctx.state.startedAt = startedAt;
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    const { requestId, part, route = routeOf(ctx), caller, driver } = ctx.state;
    const { method, status } = ctx;
    const endedAt = performance.now();
    const durationMs = Math.round(endedAt - startedAt);
    httpRequests.inc({ method, route, status });
    // `startedAt` of the state has moved by the time that the handler waited, so a long poll does not count as slow.
    httpDuration.observe({ method, route }, (endedAt - ctx.state.startedAt) / 1_000);
    const path = isDevelopment && route === 'none' && part?.name !== 'track' ? rawPath(ctx.url) : undefined;
    const ids = { rideId: rideIdOf(ctx), keyId: caller?.keyId, driverId: driver?.driverId };
    log.info({ requestId, method, route, path, status, durationMs, ...ids }, 'request');
  };
}

const requestId = /^[A-Za-z0-9_-]{8,64}$/;
/** A key or signing secret that a client sends by mistake must not get into the log. */
const looksLikeSecret = /svc_|whsec_/i;

const givenRequestId = (given: string): string | undefined =>
  requestId.test(given) && !looksLikeSecret.test(given) ? given : undefined;

/** The path as it was sent: Koa's own `path` throws where it cannot be parsed. */
const rawPath = (url: string): string => url.replace(/\?.*/s, '');

/** The ride of the path, or the one that was created. What has not the form of an id may be anything, a key for example. */
function rideIdOf(ctx: object): string | undefined {
  const { params, body, status } = ctx as { params?: { rideId?: string }; body?: { rideId?: string }; status: number };
  const rideId = params?.rideId ?? (status === 201 ? body?.rideId : undefined);
  return rideId !== undefined && /^ride_[0-9A-Za-z]{24}$/.test(rideId) ? rideId : undefined;
}

/** The pattern of the route, which a router notes on the context. */
const routeOf = (ctx: object): string => (ctx as { _matchedRoute?: string })._matchedRoute ?? 'none';
