import { randomUUID } from 'node:crypto';
import type { Context } from '../../shared/base/context.ts';
import { httpDuration, httpRequests } from '../../shared/base/metrics/metrics.ts';
import type { Tracing } from '../../shared/base/tracing/tracing.ts';
import type { Middleware, RequestContext } from '../part.ts';

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
    const facts = requestFacts(ctx);
    const { method, route, status } = facts;
    const endedAt = performance.now();
    const durationMs = Math.round(endedAt - startedAt);
    httpRequests.inc({ method, route, status });
    // `startedAt` of the state has moved by the time that the handler waited, so a long poll does not count as slow.
    httpDuration.observe({ method, route }, (endedAt - ctx.state.startedAt) / 1_000);
    const path = isDevelopment && route === 'none' && ctx.state.part?.name !== 'track' ? rawPath(ctx.url) : undefined;
    log.info({ ...facts, path, durationMs }, 'request');
  };
}

const requestId = /^[A-Za-z0-9_-]{8,64}$/;
/** A key or signing secret that a client sends by mistake must not get into the log. */
const looksLikeSecret = /svc_|whsec_/i;

const givenRequestId = (given: string): string | undefined =>
  requestId.test(given) && !looksLikeSecret.test(given) ? given : undefined;

/** The path as it was sent: Koa's own `path` throws where it cannot be parsed. */
const rawPath = (url: string): string => url.replace(/\?.*/s, '');

/** Makes a span of each request, in the trace of the client's `traceparent` where it sends one. Probes have none. */
export function traceRequest(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const { method, state } = ctx;
    if (state.part.name === 'health') return next();
    const end = () => {
      const { status: httpStatus, ...facts } = requestFacts(ctx);
      return { name: `${method} ${facts.route}`, hasFailed: httpStatus >= 500, fields: { httpStatus, ...facts } };
    };
    return tracing.span({ name: method, kind: 'server', traceparent: ctx.get('traceparent') }, next, end);
  };
}

/** What the log and the trace say of a request that was answered: its ids, its outcome, and its route as a pattern. */
function requestFacts(ctx: RequestContext) {
  const { requestId, route = routeOf(ctx), caller, driver } = ctx.state;
  const { method, status } = ctx;
  const ids = { rideId: rideIdOf(ctx), keyId: caller?.keyId, driverId: driver?.driverId };
  return { requestId, method, route, status, ...ids };
}

/** The ride of the path, or the one that was created. What has not the form of an id may be anything, a key for example. */
function rideIdOf(ctx: object): string | undefined {
  const { params, body, status } = ctx as { params?: { rideId?: string }; body?: { rideId?: string }; status: number };
  const rideId = params?.rideId ?? (status === 201 ? body?.rideId : undefined);
  return rideId !== undefined && /^ride_[0-9A-Za-z]{24}$/.test(rideId) ? rideId : undefined;
}

/** The pattern of the route, which a router notes on the context. */
const routeOf = (ctx: object): string => (ctx as { _matchedRoute?: string })._matchedRoute ?? 'none';
