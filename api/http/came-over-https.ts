import type { RequestContext } from '../types.ts';

/**
 * Whether a request came over HTTPS. Each proxy appends to X-Forwarded-Proto or replaces it, so values left of the trusted
 * hops are the client's own claim.
 */
export function cameOverHttps(ctx: RequestContext, trustedHops: number): boolean {
  if (trustedHops === 0) return ctx.secure;
  const protocols = ctx
    .get('x-forwarded-proto')
    .split(',')
    .map((protocol) => protocol.trim().toLowerCase());
  return protocols.at(-Math.min(trustedHops, protocols.length)) === 'https';
}
