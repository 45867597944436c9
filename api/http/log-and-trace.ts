import { randomUUID } from 'node:crypto';
import type { Context } from '../../shared/base/context.ts';
import { httpDuration, httpRequests } from '../../shared/base/metrics.ts';
import type { Tracing } from '../../shared/base/tracing.ts';
import type { Middleware, RequestContext } from '../part.ts';

/**
 * Gives each request an id (the client's own if it is well-formed), returns it as X-Request-Id, and logs one line per
 * request with the ids of the ride and the caller.
 *
 * The line contains the pattern of the route, never the path, which can contain a track token. Only in development, it
 * also contains a path that matched no route, unless the path belongs to the live map.
 */
export function logRequest({ log, config }: Context): Middleware {
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
    httpRequests.inc({ method, route, status: ctx.state.isSimulated ? 'simulated' : status });
    // `state.startedAt` excludes the time that the handler waited, so a long poll does not count as slow.
    httpDuration.observe(
      { method, route, mode: ctx.state.caller?.mode ?? 'none' },
      (endedAt - ctx.state.startedAt) / 1_000,
    );
    const path = isDevelopment && route === 'none' && ctx.state.part?.name !== 'track' ? rawPath(ctx.url) : undefined;
    log.info({ ...facts, path, durationMs }, 'request');
  };
}

const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;
/** Matches a key or signing secret, which a client may send by mistake and which must not be logged. */
const secretPattern = /svc_|whsec_/i;

const givenRequestId = (given: string): string | undefined =>
  requestIdPattern.test(given) && !secretPattern.test(given) ? given : undefined;

/** The path as the client sent it. Koa's own `path` throws if the path cannot be parsed. */
const rawPath = (url: string): string => url.replace(/\?.*/s, '');

/** Creates a span for each request except health probes, in the trace of the client's `traceparent` if it sends one. */
export function traceRequest(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const { method, state } = ctx;
    if (state.part.name === 'health') return next();
    const end = () => {
      const { status: httpStatus, ...facts } = requestFacts(ctx);
      return {
        name: `${method} ${facts.route}`,
        hasFailed: httpStatus >= 500 && !state.isSimulated,
        fields: { httpStatus, ...facts },
      };
    };
    return tracing.span({ name: method, kind: 'server', traceparent: ctx.get('traceparent') }, next, end);
  };
}

/** The fields of an answered request in log and trace. */
function requestFacts(ctx: RequestContext) {
  // The router sets the pattern of the route on the context.
  const { _matchedRoute = 'none' } = ctx as { _matchedRoute?: string };
  const { requestId, route = _matchedRoute, caller, driver } = ctx.state;
  const { method, status } = ctx;
  const ids = { rideId: rideIdOf(ctx), keyId: caller?.keyId, driverId: driver?.driverId };
  return { requestId, method, route, status, ...ids };
}

/** The id of the ride in the path, or of the created ride. Only if well-formed: other text could be a secret. */
function rideIdOf(ctx: object): string | undefined {
  const { params, body, status } = ctx as { params?: { rideId?: string }; body?: { rideId?: string }; status: number };
  const rideId = params?.rideId ?? (status === 201 ? body?.rideId : undefined);
  return rideId !== undefined && /^ride_[0-9A-Za-z]{24}$/.test(rideId) ? rideId : undefined;
}
