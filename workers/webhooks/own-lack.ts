import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** What the system says when this host lacks descriptors, memory, ports or its network, whoever the receiver is. */
const lacksOfSystem = new Set([
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
 * What the resolver says when it reached no name server at all: none is there, or it had no descriptor for the question. A
 * name server that answers, or one that is silent until the limit, may pass on a fault of the receiver's own.
 */
const lacksOfResolver = new Set(['ECONNREFUSED', 'ENOMEM', 'EFILE', 'ENOTINITIALIZED', 'EDESTRUCTION']);

/**
 * Whether an error of resolving, connecting or writing says what this process lacks, and nothing about the receiver. One of
 * reading does not count: the request was sent, and is not to be sent twice.
 */
export function isOwnLack(error: unknown): boolean {
  const { code, syscall, address } = (error ?? {}) as NodeJS.ErrnoException & { address?: string };
  if (typeof code !== 'string' || syscall === 'read') return false;
  if (syscall?.startsWith('query')) return lacksOfResolver.has(code);
  if (code === 'EADDRNOTAVAIL' && address !== undefined && isIPv6(address)) return hasIPv6();
  return lacksOfSystem.has(code) || code.endsWith('MALLOC_FAILURE'); // OpenSSL's name for ENOMEM
}

/** Without it, no IPv6 address can be called: that is not a lack of ports, and will not pass. */
function hasIPv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.some(({ family, internal, scopeid }) => family === 'IPv6' && !internal && scopeid === 0);
}
