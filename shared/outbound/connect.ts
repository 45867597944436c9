import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket, connect as tlsConnect } from 'node:tls';
import { hostOf, isPublicAddress } from '../targets/target.ts';
import { AttemptError } from './attempt-outcome.ts';
import { isLocalFault, isNetworkFault, recordReachedHost } from './our-faults.ts';
import { enter, type Trace } from './trace.ts';

/**
 * The time limit for a TCP connection to an address, if the name has a further address to try: all addresses of a name
 * share most of an attempt's 8 s, so that dead ones leave time for one that answers.
 */
const addressTimeoutMs = (addresses: number): number => Math.max(250, Math.min(2_000, 6_000 / addresses));

/** An attempt reads at most this many bytes of the receiver's answer. */
const maxReadBytes = 65_536;

/** 4 kB, instead of Node's 64 kB. All sockets share it: each read is copied out of it in the same tick. */
const readBuffer = Buffer.allocUnsafeSlow(4_096);

const maxSessions = 500;

const certificateReasons = new Map([
  ['CERT_HAS_EXPIRED', 'certificate_expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_name'],
]);

const received = new WeakMap<Socket, Buffer[]>();

/** Everything received so far on a connection from `connect`, as Latin-1 (64 kB at most). */
export const receivedText = (socket: Socket): string => Buffer.concat(received.get(socket) ?? []).toString('latin1');

/** Shared by TLS connections: a new context costs as much as a handshake, and a resumed session saves half of one. */
type TlsClient = { context: SecureContext; sessions: Map<string, Buffer> };

const defaultTlsClient = tlsClient();
const tlsClients = new WeakMap<object, TlsClient>();

/** The TLS client that trusts these authorities (PEM), or Node's by default. Calls with one object share a client. */
export function tlsClientFor(authorities?: { ca: string }): TlsClient {
  if (!authorities) return defaultTlsClient;
  const client = tlsClients.get(authorities) ?? tlsClient(authorities.ca);
  tlsClients.set(authorities, client);
  return client;
}

function tlsClient(ca?: string): TlsClient {
  return { context: createSecureContext({ ca }), sessions: new Map() };
}

type ConnectOptions = {
  tls: TlsClient;
  trace: Trace;
  signal: AbortSignal;
  /** Checks the actual address of the connection, before anything is written to it. */
  mayCall(address: string): boolean;
};

/**
 * Connects to the host of `url` at the first address that accepts. For `https:`, also completes the TLS handshake and
 * verifies the certificate. Never resolves a name, so the addresses cannot change after they were checked.
 *
 * If all addresses fail, rejects with a local fault if one occurred, else with the first error that only the receiver
 * can cause, else with the first error. The socket keeps an `error` listener, because a late error must not end the
 * process.
 */
export async function connect(url: URL, addresses: readonly string[], options: ConnectOptions): Promise<Socket> {
  const errors: unknown[] = [];
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    try {
      return await connectTo(url, address, options, isLast ? 0 : addressTimeoutMs(addresses.length));
    } catch (error) {
      if (error instanceof AttemptError || options.signal.aborted) throw error;
      errors.push(error);
    }
  }
  options.trace.address = addresses[0] ?? null;
  // A local fault has priority, because the address for which it occurred might have accepted the connection.
  throw (
    errors.find(isLocalFault) ??
    errors.find((error) => !isNetworkFault(error)) ??
    errors[0] ??
    new AttemptError('failed', 'ENODATA')
  );
}

async function connectTo(url: URL, address: string, options: ConnectOptions, timeoutMs: number): Promise<Socket> {
  const { trace } = options;
  enter(trace, 'connect');
  trace.address = address;
  const socket = url.protocol === 'https:' ? openTls(url, address, options.tls) : openTcp(url, address);
  socket.on('error', () => {});
  socket.setTimeout(timeoutMs, () => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })));
  // Runs before the other listeners of this event, one of which starts the TLS handshake.
  socket.prependOnceListener('connect', () => {
    socket.setTimeout(0);
    if (isPublicAddress(address)) recordReachedHost(hostOf(url));
    if (socket.remoteAddress && !options.mayCall(socket.remoteAddress)) {
      socket.destroy(new AttemptError('blocked', 'private_address'));
    }
    if (socket instanceof TLSSocket) enter(trace, 'tls');
  });
  try {
    await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect', { signal: options.signal });
    enter(trace, 'write');
    return socket;
  } catch (error) {
    socket.destroy();
    if (socket instanceof TLSSocket && socket.authorizationError)
      throw new AttemptError('failed', certificateReason(socket));
    throw error;
  }
}

/** A root name server in both address families. Connecting a UDP socket only looks up the route, and sends nothing. */
const rootServers = [
  ['udp4', '198.41.0.4'],
  ['udp6', '2001:503:ba3e::2:30'],
] as const;

/** Resolves with true if this host has a route to public addresses of at least one family. */
export async function hasRoute(): Promise<boolean> {
  const routes = rootServers.map(async ([family, address]) => {
    const socket = createSocket(family).on('error', () => {}); // A late error must not end the process.
    try {
      socket.connect(53, address);
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.close();
    }
  });
  return (await Promise.all(routes)).includes(true);
}

/** The reason for a certificate error. Errors that a partner can recognize and fix have their own reasons. */
function certificateReason({ authorizationError }: TLSSocket): string {
  return certificateReasons.get(String(authorizationError)) ?? 'certificate';
}

function openTcp(url: URL, address: string): Socket {
  const socket: Socket = tcpConnect(socketOptions(address, url.port || 80, () => socket));
  return socket;
}

function openTls(url: URL, address: string, { context, sessions }: TlsClient): TLSSocket {
  const host = hostOf(url);
  const socket: TLSSocket = tlsConnect({
    ...socketOptions(address, url.port || 443, () => socket),
    servername: isIP(host) === 0 ? host : undefined,
    secureContext: context,
    session: sessions.get(url.origin),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect
  });
  // Node emits `session` only for a verified connection, and does not verify a resumed session again.
  return socket.on('session', (session) => storeSession(sessions, url.origin, session));
}

/**
 * The socket options: the address, and a reader that stops before the next read could exceed the limit. `push` passes
 * each chunk to its consumers in the same tick, so a status line within the limit is evaluated before the socket is
 * destroyed.
 */
function socketOptions(address: string, port: string | number, socketOf: () => Socket) {
  const chunks: Buffer[] = [];
  const callback = (bytes: number, read: Uint8Array): boolean => {
    const socket = socketOf();
    const chunk = Buffer.from(read.subarray(0, bytes));
    if (chunks.push(chunk) === 1) received.set(socket, chunks);
    const wantsMore = socket.push(chunk);
    if (socket.bytesRead + readBuffer.length <= maxReadBytes) return wantsMore;
    socket.destroy(new AttemptError('failed', 'answer_too_long'));
    return false;
  };
  return { host: address, port: Number(port), onread: { buffer: readBuffer, callback } };
}

function storeSession(sessions: Map<string, Buffer>, origin: string, session: Buffer): void {
  sessions.delete(origin);
  sessions.set(origin, session);
  const [oldest] = sessions.keys();
  if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
}
