import type { Config } from '../../shared/config.ts';
import { AppError } from '../../shared/errors.ts';
import type { Middleware, RequestContext } from '../types.ts';

/**
 * In production a request that did not come over HTTPS is refused, not redirected: its key has already leaked. TLS ends
 * at a proxy, which is believed only as far as the configured number of hops.
 */
export function requireHttps(config: Pick<Config, 'environment' | 'trustedProxyHops'>): Middleware {
  return (ctx, next) => {
    if (config.environment === 'production' && !cameOverHttps(ctx, config.trustedProxyHops)) {
      throw new AppError('https_required');
    }
    return next();
  };
}

/** Each proxy adds to the right of X-Forwarded-Proto, or replaces it: what stands further left is the client's word. */
function cameOverHttps(ctx: RequestContext, trustedHops: number): boolean {
  if (trustedHops === 0) return ctx.secure;
  const protocols = ctx
    .get('x-forwarded-proto')
    .split(',')
    .map((protocol) => protocol.trim().toLowerCase());
  return protocols.at(-Math.min(trustedHops, protocols.length)) === 'https';
}
