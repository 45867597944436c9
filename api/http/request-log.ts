import { randomUUID } from 'node:crypto';
import type { Context } from '../../shared/base/context.ts';
import { httpDuration, httpRequests } from '../../shared/base/metrics.ts';
import type { Middleware } from '../types.ts';
import { requestFacts } from './request-facts.ts';

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
