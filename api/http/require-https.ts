import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware } from '../types.ts';
import { cameOverHttps } from './came-over-https.ts';

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
