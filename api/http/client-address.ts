import ipaddr from 'ipaddr.js';
import type { RequestContext } from '../types.ts';

/**
 * The address of the client that limits count. Each proxy adds the address that it saw to the right of X-Forwarded-For, so
 * with so many trusted hops the client stands that far from the right; what stands further left anyone may write.
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
 * What a limit counts as one client: an IPv4 address, or the network of an IPv6 address, since a client has a whole /64 of
 * them.
 */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}/64`;
}
