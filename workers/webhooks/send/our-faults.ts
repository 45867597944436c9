import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { rejectOnAbort } from '../../abort-signal.ts';

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

/** System errors of connecting that a host without a way out reports for every address. */
const connectCodes = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EAFNOSUPPORT']);
/** Errors of a query that a name server without a way out reports for every name. */
const queryCodes = new Set(['ESERVFAIL', 'EREFUSED', 'ETIMEOUT']);

/**
 * Whether an error of an attempt may be due to this host's network: it has no route, may open no sockets, or its name servers
 * do not answer. The receiver's network or DNS can cause the same errors, so `reachesOthers` decides.
 */
export function isNetworkFault(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  return syscall?.startsWith('query') ? queryCodes.has(code) : syscall === 'connect' && connectCodes.has(code);
}

/** A connection this long before an attempt shows that the process reached others when the attempt was made. */
const recentMs = 1_000;
/** A question to the name servers takes this long at most. */
export const probeLimitMs = 2_000;

/** The host that was connected to last, and the last one before it that is another. */
let last = { host: '', at: Number.NEGATIVE_INFINITY };
let lastOther = last;

/** Notes a connection to a public address. */
export function noteReached(host: string): void {
  if (host !== last.host) lastOther = last;
  last = { host, at: performance.now() };
}

type AskNameServers = (name: string, signal: AbortSignal) => Promise<unknown>;
const probes = new WeakMap<AskNameServers, Promise<boolean>>();

/**
 * Whether this process reaches a host other than `host` (contract, section 6, rule 4). It does if it connected to one since a
 * second before `since` (ms, monotonic), or if its name servers answer for another name. Without a route to any public address
 * it reaches none, whatever a name server nearby answers. One question to the name servers, of `limitMs` at most, serves
 * concurrent attempts.
 */
export async function reachesOthers(
  { host, since, resolver, limitMs }: { host: string; since: number; resolver: AskNameServers; limitMs: number },
  hasRoute: () => Promise<boolean>,
): Promise<boolean> {
  const other = last.host === host ? lastOther : last;
  if (other.at >= since - recentMs) return true;
  if (!(await hasRoute())) return false;
  const asked = probes.get(resolver) ?? answersForOthers(resolver, limitMs).finally(() => probes.delete(resolver));
  probes.set(resolver, asked);
  return asked;
}

/** Asks for a name that is in no cache. The answer that there is no such name counts as well. */
async function answersForOthers(resolver: AskNameServers, limitMs: number): Promise<boolean> {
  const name = `${randomBase62(16).toLowerCase()}.example.com`;
  const signal = AbortSignal.timeout(limitMs);
  try {
    await rejectOnAbort(signal, resolver(name, signal));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' || code === 'ENODATA';
  }
}
