import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { rejectOnAbort } from '../base/abort-signal.ts';
import { randomBase62 } from '../base/ids.ts';

/** System errors: this host has no free descriptors, memory or ports, or no network. */
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
 * Resolver errors which show that no name server was reached, because none is running or no descriptor was free for the
 * query. An error from a name server, or a missing answer, does not count: the receiver's own DNS may cause it.
 */
const resolverCodes = new Set(['ECONNREFUSED', 'ENOMEM', 'EFILE', 'ENOTINITIALIZED', 'EDESTRUCTION']);

/**
 * Returns true if an error of resolving, connecting or writing is a local fault, which says nothing about the receiver.
 * A read error does not count: the request was already sent, and must not be sent twice.
 */
export function isLocalFault(error: unknown): boolean {
  const { code, syscall, address } = (error ?? {}) as NodeJS.ErrnoException & { address?: string };
  if (typeof code !== 'string' || syscall === 'read') return false;
  if (syscall?.startsWith('query')) return resolverCodes.has(code);
  if (code === 'EADDRNOTAVAIL' && address !== undefined && isIPv6(address)) return hasIPv6();
  return systemCodes.has(code) || code.endsWith('MALLOC_FAILURE'); // OpenSSL's name for ENOMEM
}

/** True if this host has IPv6. If not, EADDRNOTAVAIL for an IPv6 address is permanent, and not a lack of ports. */
function hasIPv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.some(({ family, internal, scopeid }) => family === 'IPv6' && !internal && scopeid === 0);
}

/** Connection errors that a host without network access gets for every address. */
const connectCodes = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EAFNOSUPPORT']);
/** The DNS errors that a name server without network access returns for every name. */
const queryCodes = new Set(['ESERVFAIL', 'EREFUSED', 'ETIMEOUT']);

/**
 * Returns true if this host's network may have caused an attempt's error: no route, no permission to open sockets, or
 * name servers that do not answer. The receiver's network or DNS can cause the same errors, so `reachesOthers` decides.
 */
export function isNetworkFault(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  return syscall?.startsWith('query') ? queryCodes.has(code) : syscall === 'connect' && connectCodes.has(code);
}

/** A connection to another host within this time before an attempt proves that there was a network. */
const recentMs = 1_000;
/** The time limit of a probe of the name servers. */
export const probeLimitMs = 2_000;

/** The host that was reached last, and, in `lastOther`, the one with another name that was reached last before it. */
let last = { host: '', at: Number.NEGATIVE_INFINITY };
let lastOther = last;

/** Records that a connection to `host` reached a public address. */
export function recordReachedHost(host: string): void {
  if (host !== last.host) lastOther = last;
  last = { host, at: performance.now() };
}

type AskNameServers = (name: string, signal: AbortSignal) => Promise<unknown>;
const runningProbes = new WeakMap<AskNameServers, Promise<boolean>>();

/**
 * Resolves with true if this process reaches a host other than `host` (contract, section 6, rule 4). The proof is a
 * connection to another host that was made after `since` (monotonic ms) or in the second before it, or an answer of the
 * name servers for another name. Without a route to any public address the result is false, even if a local name server
 * answers. Concurrent attempts share one probe of the name servers, of at most `limitMs`.
 */
export async function reachesOthers(
  { host, since, resolver, limitMs }: { host: string; since: number; resolver: AskNameServers; limitMs: number },
  hasRoute: () => Promise<boolean>,
): Promise<boolean> {
  const other = last.host === host ? lastOther : last;
  if (other.at >= since - recentMs) return true;
  if (!(await hasRoute())) return false;
  const asked =
    runningProbes.get(resolver) ?? answersForOthers(resolver, limitMs).finally(() => runningProbes.delete(resolver));
  runningProbes.set(resolver, asked);
  return asked;
}

/** True if the name servers answer for a random name, which no cache has. The answer can be that it does not exist. */
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
