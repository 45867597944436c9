import { randomUUID } from 'node:crypto';
import type { Logger } from '../../shared/logger.ts';
import type { Middleware } from '../types.ts';

/** Names every request, on its answer and in the log, and logs one line for each: route patterns, never paths. */
export function requestLog(log: Logger): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.state.requestId = randomUUID();
    ctx.state.startedAt = startedAt;
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    const { requestId, route = routeOf(ctx), caller } = ctx.state;
    const durationMs = Math.round(performance.now() - startedAt);
    log.info({ requestId, method: ctx.method, route, status: ctx.status, durationMs, keyId: caller?.keyId }, 'request');
  };
}

/** The pattern, which a router notes on the context. */
const routeOf = (ctx: object): string => (ctx as { _matchedRoute?: string })._matchedRoute ?? 'none';
