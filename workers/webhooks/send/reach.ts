import { randomBase62 } from '../../../shared/base/ids.ts';
import { rejectOnAbort } from '../../abort-signal.ts';
import type { Resolver } from './resolve.ts';

/** System errors of connecting that a host without a way out reports for every address. */
const connectCodes = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EAFNOSUPPORT']);
/** Errors of a query that a name server without a way out reports for every name. */
const queryCodes = new Set(['ESERVFAIL', 'EREFUSED', 'ETIMEOUT']);

/** A connection this long before an attempt shows that the process reached others when the attempt was made. */
const recentMs = 1_000;
/** A question to the name servers takes this long at most. */
export const probeLimitMs = 2_000;

/** The host that was connected to last, and the last one before it that is another. */
let last = { host: '', at: Number.NEGATIVE_INFINITY };
let lastOther = last;
const probes = new WeakMap<Resolver, Promise<boolean>>();

/** Notes a connection to a public address. */
export function noteReached(host: string): void {
  if (host !== last.host) lastOther = last;
  last = { host, at: performance.now() };
}

/**
 * Whether an error of an attempt may be due to this host's network: it has no route, may open no sockets, or its name servers
 * do not answer. The receiver's network or DNS can cause the same errors, so `reachesOthers` decides.
 */
export function isNetworkFault(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  return syscall?.startsWith('query') ? queryCodes.has(code) : syscall === 'connect' && connectCodes.has(code);
}

/**
 * Whether this process reaches a host other than `host` (contract, section 6, rule 4). It does if it connected to one since a
 * second before `since` (ms, monotonic), or if its name servers answer for another name. Without a route to any public address
 * it reaches none, whatever a name server nearby answers. One question to the name servers, of `limitMs` at most, serves
 * concurrent attempts.
 */
export async function reachesOthers(
  { host, since, resolver, limitMs }: { host: string; since: number; resolver: Resolver; limitMs: number },
  hasRoute: () => Promise<boolean>,
): Promise<boolean> {
  const other = last.host === host ? lastOther : last;
  if (other.at >= since - recentMs) return true;
  if (!(await hasRoute())) return false;
  const asked = probes.get(resolver) ?? answersForOthers(resolver, limitMs).finally(() => probes.delete(resolver));
  probes.set(resolver, asked);
  return asked;
}

/** Asks for a name that is in no cache. That there is no such name is an answer, too. */
async function answersForOthers(resolver: Resolver, limitMs: number): Promise<boolean> {
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
