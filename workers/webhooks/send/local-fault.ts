import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** System errors for a lack of descriptors, memory, ports or network on this host. */
const systemCodes = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EAGAIN',
  'ENETDOWN',
  'EFILE', // The resolver could not read its settings.
]);

/**
 * Resolver errors that say no name server was reached: none runs, or there was no descriptor for the query. Errors from a
 * name server, or its silence, do not count: the receiver's own DNS may cause them.
 */
const resolverCodes = new Set(['ECONNREFUSED', 'ENOMEM', 'EFILE', 'ENOTINITIALIZED', 'EDESTRUCTION']);

/**
 * Whether an error of resolving, connecting or writing is this host's own fault and says nothing about the receiver. Read
 * errors do not count: the request was sent by then, and must not be sent twice.
 */
export function isLocalFault(error: unknown): boolean {
  const { code, syscall, address } = (error ?? {}) as NodeJS.ErrnoException & { address?: string };
  if (typeof code !== 'string' || syscall === 'read') return false;
  if (syscall?.startsWith('query')) return resolverCodes.has(code);
  if (code === 'EADDRNOTAVAIL' && address !== undefined && isIPv6(address)) return hasIPv6();
  return systemCodes.has(code) || code.endsWith('MALLOC_FAILURE'); // OpenSSL's name for ENOMEM
}

/** On a host without IPv6, EADDRNOTAVAIL for an IPv6 address is permanent: waiting for free ports does not help. */
function hasIPv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.some(({ family, internal, scopeid }) => family === 'IPv6' && !internal && scopeid === 0);
}
