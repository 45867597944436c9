import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { isOwnLack } from './own-lack.ts';

/** All addresses of a name, of both families. Rejects when it has none, and when the signal aborts. */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Asks name servers itself (`dns.lookup` would let one slow name hold up four threads that all attempts share). `servers`
 * (`127.0.0.1:5353`) stand in for those of the machine.
 */
export function dnsResolver(servers?: readonly string[]): Resolver {
  return async (hostname, signal) => {
    signal.throwIfAborted();
    const v4 = new dns.Resolver({ timeout: 1_000, tries: 5 });
    // Some name servers never answer the question for AAAA: it is given up in time to use what A has answered.
    const v6 = new dns.Resolver({ timeout: 500, tries: 2 });
    if (servers) for (const resolver of [v4, v6]) resolver.setServers(servers);

    const cancel = () => {
      v4.cancel();
      v6.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return gather(await Promise.allSettled([v4.resolve4(hostname), v6.resolve6(hostname)]));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/**
 * The addresses to connect to for a host of a URL: itself when it is an address, the machine's own for `localhost` (which
 * only a local target can be), else what the resolver answers.
 */
export async function addressesOf(host: string, resolver: Resolver, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  return resolver(host, signal);
}

// A family without an address is an error to the resolver, but not to us while the other has one.
function gather(answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (addresses.length === 0 && refusals.length > 0) throw refusals.find(isOwnLack) ?? refusals[0];
  return addresses;
}
