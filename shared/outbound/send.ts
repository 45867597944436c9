import { rejectOnAbort } from '../base/abort-signal.ts';
import { checkTargetUrl, hostOf, ipv4Inside, isLocalTarget, isPublicAddress } from '../targets/target.ts';
import { AttemptError, type AttemptResult, ownReason } from './attempt-outcome.ts';
import { connect, hasRoute, tlsClientFor } from './connect.ts';
import { isLocalFault, isNetworkFault, probeLimitMs, reachesOthers } from './our-faults.ts';
import { type Message, post } from './post.ts';
import { addressesOf, dnsResolver, type Resolver } from './resolve.ts';
import { enter, newTrace, type Trace } from './trace.ts';

/** The receiver must answer 2xx within 8 seconds (contract, section 6, rule 3). */
const attemptTimeoutMs = 8_000;

const systemResolver = dnsResolver();

export type Attempt = Message & {
  url: string;
  /** Allowlist of origins that may be neither HTTPS nor public, such as `http://127.0.0.1:4000`. */
  localTargets: readonly string[];
  timeoutMs?: number;
  /** Only for tests: replaces the machine's name servers. */
  resolver?: Resolver;
  /** The certificate authorities (PEM) to trust instead of Node's. TLS sessions are kept per object. */
  tls?: { ca: string };
};

export type SendResult = AttemptResult & { durationMs: number };

/**
 * Makes one attempt to deliver one event: posts the unchanged body to the URL. Never throws. One time limit of 8 s
 * covers DNS, connecting, TLS and the wait for the status line. 2xx means `delivered`; redirects are not followed, and
 * only public addresses are called (contract, section 6, rules 2 to 4). Writes the details for the dashboard into
 * `trace`.
 *
 * Only this folder opens outbound connections; a test checks all imports for that.
 */
export async function send(attempt: Attempt, trace = newTrace()): Promise<SendResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  // Aborts only after this turn of the event loop, so that an answer that arrived while the process was paused is read
  // first.
  const abort = () => setImmediate(() => deadline.abort());
  const timeoutMs = attempt.timeoutMs ?? attemptTimeoutMs;
  const timer = setTimeout(abort, timeoutMs + 1); // a timer can be 1 ms early
  // If DNS has not answered shortly before the time limit, starts the probe of `reachesOthers`, so that its result is
  // known at the limit.
  const probeMs = Math.min(probeLimitMs, timeoutMs / 2);
  const reaches = () => reachesOthers({ ...probeTarget(attempt), since: startedAt, limitMs: probeMs }, hasRoute);
  let early: Promise<boolean> | undefined;
  const probeTimer = setTimeout(() => {
    if (trace.phase === 'dns') early = reaches().catch(() => true);
  }, timeoutMs - probeMs);
  const isOurFault = async () => !(await (early ?? reaches()));
  const result = await connectAndPost(attempt, trace, deadline.signal).catch((error) =>
    resultOf(error, { trace, isOurFault }, deadline.signal),
  );
  clearTimeout(timer);
  clearTimeout(probeTimer);
  enter(trace, trace.phase);
  return { ...result, durationMs: Math.round(performance.now() - startedAt) };
}

async function connectAndPost(attempt: Attempt, trace: Trace, signal: AbortSignal): Promise<AttemptResult> {
  if (checkTargetUrl(attempt.url, attempt.localTargets) !== null) throw new AttemptError('blocked', 'target_url');
  const url = new URL(attempt.url);
  const isLocal = isLocalTarget(url, attempt.localTargets);
  const mayCall = (address: string) => isLocal || isPublicAddress(address);

  const resolver = attempt.resolver ?? systemResolver;
  const resolved = await rejectOnAbort(signal, addressesOf(hostOf(url), resolver, signal));
  // A name server with DNS64 adds an IPv6 form of each IPv4 address, which says nothing about the receiver.
  const addresses = [...new Set(resolved.map((address) => ipv4Inside(address) ?? address))];
  // A single private address blocks the target, even if the attempt would have used another address.
  if (!addresses.every(mayCall)) throw new AttemptError('blocked', 'private_address');

  const socket = await connect(url, addresses, { tls: tlsClientFor(attempt.tls), trace, signal, mayCall });
  return post(url, socket, attempt, trace, signal);
}

const probeTarget = ({ url, resolver = systemResolver }: Attempt) => ({ host: hostOf(new URL(url)), resolver });

/** `isOurFault` resolves with true if this process reaches no other host either. */
async function resultOf(
  error: unknown,
  { trace, isOurFault }: { trace: Trace; isOurFault: () => Promise<boolean> },
  signal: AbortSignal,
): Promise<AttemptResult> {
  if (error instanceof AttemptError) return error.result;
  const isTimeout = signal.aborted;
  // The message of an error may contain the address or the answer; its code cannot.
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const reason = typeof code === 'string' ? ownReason(code) : 'unknown';
  if (!isTimeout && isLocalFault(error)) return { outcome: 'unable', reason };
  if ((isTimeout ? trace.phase === 'dns' : isNetworkFault(error)) && (await isOurFault())) {
    return { outcome: 'unable', reason: isTimeout ? 'ETIMEOUT' : reason };
  }
  return isTimeout ? { outcome: 'timeout', reason: trace.phase } : { outcome: 'failed', reason };
}
