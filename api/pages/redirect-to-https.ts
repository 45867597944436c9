import type { Config } from '../../shared/base/config.ts';
import { cameOverHttps } from '../http/came-over-https.ts';
import type { Middleware } from '../types.ts';

/** In production a page that is asked for over plain HTTP is answered with its address under `https:` (308). */
export function redirectToHttps(
  config: Pick<Config, 'environment' | 'trustedProxyHops' | 'publicBaseUrl'>,
): Middleware {
  return (ctx, next) => {
    if (config.environment !== 'production' || cameOverHttps(ctx, config.trustedProxyHops)) return next();
    ctx.status = 308;
    // From the configured address, never from `Host` or a request target with a host: a client may write anything there.
    const address = new URL(config.publicBaseUrl);
    address.pathname = ctx.path;
    address.search = ctx.search;
    ctx.redirect(address.href);
    ctx.body = '';
  };
}
