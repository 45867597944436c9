import { randomUUID } from 'node:crypto';
import type { Context } from '../../shared/context.ts';
import type { Middleware } from '../types.ts';

/**
 * Names every request, on its answer and in the log, and logs one line for each: route patterns, never paths. Only a
 * development stack tells its developer which ride was asked for, and a path that no route has.
 */
export function requestLog({ log, config }: Context): Middleware {
  const isDevelopment = config.environment === 'development';
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.state.requestId = randomUUID();
    ctx.state.startedAt = startedAt;
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    const { requestId, route = routeOf(ctx), caller } = ctx.state;
    const { method, status } = ctx;
    const durationMs = Math.round(performance.now() - startedAt);
    const shown = isDevelopment ? { rideId: rideIdOf(ctx), path: route === 'none' ? rawPath(ctx.url) : undefined } : {};
    log.info({ requestId, method, route, ...shown, status, durationMs, keyId: caller?.keyId }, 'request');
  };
}

/** As it was sent: Koa's own `path` throws where it cannot be parsed. */
const rawPath = (url: string): string => url.replace(/\?.*/s, '');

const rideIdOf = (ctx: object): string | undefined => (ctx as { params?: { rideId?: string } }).params?.rideId;

/** The pattern, which a router notes on the context. */
const routeOf = (ctx: object): string => (ctx as { _matchedRoute?: string })._matchedRoute ?? 'none';
