import ipaddr from 'ipaddr.js';
import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware, RequestContext } from '../part.ts';

type Service = Pick<Context, 'config' | 'log'>;

/**
 * The client's address, by which limits count requests: without port, zone and brackets, and with the IPv4 address of
 * an IPv4-mapped one. Each proxy appends the address that it saw to X-Forwarded-For. Only the last
 * `trustedProxyHops` entries can be trusted, because clients control the entries further left. All clients for which a
 * trusted proxy sends no address are one client, `unknown`.
 */
export function clientAddress(ctx: RequestContext, { config, log }: Service): string {
  const { trustedProxyHops: hops } = config;
  const forwarded = ctx.get('x-forwarded-for');
  const entry = hops > 0 && forwarded ? forwarded.split(',').slice(-hops)[0] : ctx.req.socket.remoteAddress;
  const address = addressIn(entry ?? '');
  if (!address && !reported.has(config)) {
    reported.add(config);
    log.warn('a trusted proxy sends no client address in X-Forwarded-For: such clients share their limits');
  }
  return address ?? 'unknown';
}

/** The settings of the services that have logged an entry without an address: each logs it once. */
const reported = new WeakSet<object>();

/**
 * The address in one entry of X-Forwarded-For, or null. Some proxies add a port, or write the entry as in `Forwarded`
 * (RFC 7239): `"[2001:db8::1]:4711"`.
 */
function addressIn(entry: string): string | null {
  const node = /^(?:for=)?"?([^"]*)"?$/i.exec(entry.trim())?.[1] ?? '';
  const [, ipv4, bracketed] = /^(?:([\d.]+)|\[(.*)\])(?::\d+)?$/.exec(node) ?? [];
  if (ipv4) return ipaddr.IPv4.isValidFourPartDecimal(ipv4) ? ipv4 : null;
  const [ipv6 = ''] = (bracketed ?? node).split('%');
  return ipaddr.IPv6.isValid(ipv6) ? ipaddr.process(ipv6).toString() : null;
}

/** The network that limits count as one client: an IPv4 address, or an IPv6 /64, because a client has a whole /64. */
export function clientNetwork(text: string): string {
  const address = addressIn(text) ?? 'unknown';
  return ipaddr.IPv6.isValid(address) ? `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64` : address;
}

type HttpsSettings = Pick<Config, 'environment' | 'trustedProxyHops'>;

/** In production, refuses plain HTTP. A redirect would hide that the request has already exposed its key. */
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
 * control the values to the left of those that trusted proxies set.
 */
function arrivedOverHttps(ctx: RequestContext, trustedHops: number): boolean {
  if (trustedHops === 0) return ctx.secure;
  const protocols = ctx
    .get('x-forwarded-proto')
    .split(',')
    .map((protocol) => protocol.trim().toLowerCase());
  return protocols.at(-Math.min(trustedHops, protocols.length)) === 'https';
}
