import { checkTargetUrl, hostOf, isLocalTarget, isPublicAddress } from '../../shared/webhooks/target.ts';
import { before } from '../deadline.ts';
import { connect, tlsClientFor } from './connect.ts';
import { isOwnLack } from './own-lack.ts';
import { type Message, post } from './post.ts';
import { addressesOf, dnsResolver, type Resolver } from './resolve.ts';
import { AttemptError, type Verdict } from './verdict.ts';

/** The receiver must answer 2xx within 8 seconds (section 6, rule 3). */
const attemptTimeoutMs = 8_000;

export type Attempt = Message & {
  url: string;
  /** Origins that need be neither HTTPS nor public, such as `http://127.0.0.1:4000`. */
  localTargets: readonly string[];
  timeoutMs?: number;
  /** Stands in for the name servers of the machine. */
  resolver?: Resolver;
  /** PEM of the certificate authorities to trust instead of Node's. TLS sessions are kept for each such object. */
  tls?: { ca: string };
};

export type SendResult = Verdict & { durationMs: number };

/**
 * One attempt to deliver one event: posts the body, as it is, to the URL. The only place in this service that opens outbound
 * connections. Never throws. One limit of 8 s spans everything from before DNS to the status line of the answer; 2xx is
 * `delivered`; redirects are not followed; only public addresses are called (section 6, rules 2 to 5).
 */
export async function send(attempt: Attempt): Promise<SendResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  // After the turn of the event loop: an answer that came while this process was paused is read before it is cut.
  const cut = () => setImmediate(() => deadline.abort());
  const timer = setTimeout(cut, (attempt.timeoutMs ?? attemptTimeoutMs) + 1); // a timer can be 1 ms early
  const verdict = await deliver(attempt, deadline.signal).catch((error) => verdictOf(error, deadline.signal));
  clearTimeout(timer);
  return { ...verdict, durationMs: Math.round(performance.now() - startedAt) };
}

async function deliver(attempt: Attempt, signal: AbortSignal): Promise<Verdict> {
  if (checkTargetUrl(attempt.url, attempt.localTargets) !== null) throw new AttemptError('blocked', 'target_url');
  const url = new URL(attempt.url);
  const isLocal = isLocalTarget(attempt.url, attempt.localTargets);
  const mayCall = (address: string) => isLocal || isPublicAddress(address);

  const resolver = attempt.resolver ?? dnsResolver();
  const addresses = await before(signal, addressesOf(hostOf(url), resolver, signal));
  // One address that is not public condemns the name, whichever of them would have been called.
  if (!addresses.every(mayCall)) throw new AttemptError('blocked', 'private_address');

  const socket = await connect(url, addresses, { tls: tlsClientFor(attempt.tls), signal, mayCall });
  return post(url, socket, attempt, signal);
}

function verdictOf(error: unknown, signal: AbortSignal): Verdict {
  if (error instanceof AttemptError) return error.verdict;
  if (signal.aborted) return { outcome: 'timeout' };
  // The message of an error can quote the address or the answer; its code cannot.
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return { outcome: isOwnLack(error) ? 'unable' : 'failed', reason: typeof code === 'string' ? code : 'unknown' };
}
