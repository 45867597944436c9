import type { Config } from '../../shared/config.ts';
import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';

/**
 * In production, refuses a request that did not arrive over HTTPS. It is not redirected: its key has already leaked. TLS ends
 * at a proxy, and X-Forwarded-Proto is trusted only for the configured number of hops.
 */
export function requireHttps(config: Pick<Config, 'environment' | 'trustedProxyHops'>): Middleware {
  return (ctx, next) => {
    if (config.environment === 'production' && !cameOverHttps(ctx, config.trustedProxyHops)) {
      throw new AppError('https_required');
    }
    return next();
  };
}

/** Each proxy appends to X-Forwarded-Proto or replaces it, so values left of the trusted hops are the client's own claim. */
function cameOverHttps(ctx: RequestContext, trustedHops: number): boolean {
  if (trustedHops === 0) return ctx.secure;
  const protocols = ctx
    .get('x-forwarded-proto')
    .split(',')
    .map((protocol) => protocol.trim().toLowerCase());
  return protocols.at(-Math.min(trustedHops, protocols.length)) === 'https';
}
