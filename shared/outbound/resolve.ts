import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { isLocalFault } from './our-faults.ts';

/** Resolves with all IPv4 and IPv6 addresses of a name. Rejects if it has none, or when the signal aborts. */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Creates a resolver that queries name servers directly. `dns.lookup` would use four threads for all attempts, and slow
 * names would block them. `servers` (`127.0.0.1:5353`) replace the machine's name servers.
 */
export function dnsResolver(servers?: readonly string[]): Resolver {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    const v4 = new dns.Resolver({ timeout: 1_000, tries: 5 });
    // Some name servers never answer AAAA queries. The short time limit ends such a query early enough to use the
    // answer to the A query.
    const v6 = new dns.Resolver({ timeout: 500, tries: 2 });
    if (servers) for (const resolver of [v4, v6]) resolver.setServers(servers);

    const cancel = () => {
      v4.cancel();
      v6.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return addressesIn(await Promise.allSettled([v4.resolve4(hostname), v6.resolve6(hostname)]));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/**
 * The addresses of a URL's host: the host itself if it is an address, the loopback addresses for `localhost` (a name
 * that only local targets can have), else the resolver's answer.
 */
export async function addressesOf(host: string, resolver: Resolver, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  return resolver(host, signal);
}

// The resolver reports an error for a family without addresses. That is a failure only if both families have none.
function addressesIn(answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (addresses.length === 0 && errors.length > 0) throw errors.find(isLocalFault) ?? errors[0];
  return addresses;
}
