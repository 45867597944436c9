import ipaddr from 'ipaddr.js';
import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../part.ts';

/**
 * The client's address, by which limits count requests. Each proxy appends the address that it saw to X-Forwarded-For.
 * Only the last `trustedHops` entries can be trusted, because clients control the entries further left.
 */
export function clientAddress(ctx: RequestContext, trustedHops: number): string {
  const forwarded = ctx
    .get('x-forwarded-for')
    .split(',')
    .flatMap((address) => address.trim() || []);
  const trusted = trustedHops > 0 ? forwarded.at(-Math.min(trustedHops, forwarded.length)) : undefined;
  return trusted ?? ctx.req.socket.remoteAddress ?? 'unknown';
}

/**
 * The unit that limits count as one client: an IPv4 address, or an IPv6 /64 network, since a client has a whole /64.
 */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64`;
}

type HttpsSettings = Pick<Config, 'environment' | 'trustedProxyHops'>;

/**
 * In production, refuses a request that did not arrive over HTTPS. A redirect would hide that the request has already
 * exposed its key.
 */
export function requireHttps(config: HttpsSettings): Middleware {
  return (ctx, next) => {
    if (!isSecure(ctx, config)) throw new AppError('https_required');
    return next();
  };
}

/** In production, redirects a page that is requested over plain HTTP to its `https:` address (308). */
export function redirectToHttps(config: HttpsSettings & Pick<Config, 'publicBaseUrl'>): Middleware {
  return (ctx, next) => {
    if (isSecure(ctx, config)) return next();
    ctx.status = 308;
    // Redirects to the configured address, never to the one in `Host` or in the request target: clients control both.
    const address = new URL(config.publicBaseUrl);
    address.pathname = ctx.path;
    address.search = ctx.search;
    ctx.redirect(address.href);
    ctx.body = '';
  };
}

/** True if a request may be answered: in production only if it arrived over HTTPS. */
const isSecure = (ctx: RequestContext, { environment, trustedProxyHops }: HttpsSettings): boolean =>
  environment !== 'production' || arrivedOverHttps(ctx, trustedProxyHops);

/**
 * True if a request arrived over HTTPS. TLS ends at a proxy, which appends to X-Forwarded-Proto or replaces it. Clients
 * control the values left of those of the trusted proxies.
 */
function arrivedOverHttps(ctx: RequestContext, trustedHops: number): boolean {
  if (trustedHops === 0) return ctx.secure;
  const protocols = ctx
    .get('x-forwarded-proto')
    .split(',')
    .map((protocol) => protocol.trim().toLowerCase());
  return protocols.at(-Math.min(trustedHops, protocols.length)) === 'https';
}
