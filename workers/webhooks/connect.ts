import { once } from 'node:events';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket, connect as tlsConnect } from 'node:tls';
import { hostOf } from '../../shared/webhooks/target.ts';
import { isOwnLack } from './own-lack.ts';
import { AttemptError } from './verdict.ts';

/** How long an address may take to answer at all while another one of the same name is left to try. */
const addressPatienceMs = 2_000;

/** However many addresses a name has, one event does not make us knock at more doors than these. */
const maxTried = 4;

/** No more than this is read of a connection, whatever its other end claims to have to say. */
const maxReadBytes = 65_536;

/** What is read at a time, where Node by itself takes up to 64 kB. One for all sockets: filled and copied in one tick. */
const piece = Buffer.allocUnsafeSlow(4_096);

const maxSessions = 500;

const textRead = new WeakMap<Socket, string>();

/** All that was read so far of a connection that `connect` made, one character for each byte: 64 kB at most. */
export const textReadFrom = (socket: Socket): string => textRead.get(socket) ?? '';

/** What TLS connections share: a new context costs as much as a handshake, a resumed session saves half of one. */
type TlsClient = { context: SecureContext; sessions: Map<string, Buffer> };

const trustingNodesAuthorities = tlsClient();
const trustingOthers = new WeakMap<object, TlsClient>();

/** The TLS client that trusts the authorities given (PEM), or those of Node: the same one for the same object. */
export function tlsClientFor(authorities?: { ca: string }): TlsClient {
  if (!authorities) return trustingNodesAuthorities;
  const client = trustingOthers.get(authorities) ?? tlsClient(authorities.ca);
  trustingOthers.set(authorities, client);
  return client;
}

function tlsClient(ca?: string): TlsClient {
  return { context: createSecureContext({ ca }), sessions: new Map() };
}

export type ConnectOptions = {
  tls: TlsClient;
  signal: AbortSignal;
  /** Asked once more about the address that the connection turned out to have, before anything is written to it. */
  mayCall(address: string): boolean;
};

/**
 * A connection to the host of `url`, at the first of the addresses that takes one; for `https:` with TLS done and the
 * certificate verified. It goes to addresses, never to a name, so nothing is resolved behind the caller's back. Rejects with
 * the first address's error, or with one that says what this process lacks. The socket keeps an `error` listener: a late
 * error must not end the process.
 */
export async function connect(url: URL, addresses: readonly string[], options: ConnectOptions): Promise<Socket> {
  const tried = addresses.slice(0, maxTried);
  const errors: unknown[] = [];
  for (const [index, address] of tried.entries()) {
    const isLast = index === tried.length - 1;
    try {
      return await connectTo(url, address, options, isLast ? 0 : addressPatienceMs);
    } catch (error) {
      if (error instanceof AttemptError || options.signal.aborted) throw error;
      errors.push(error);
    }
  }
  // An address that we lacked the means to try may be the one that answers.
  throw errors.find(isOwnLack) ?? errors[0] ?? new AttemptError('failed', 'ENODATA');
}

async function connectTo(url: URL, address: string, options: ConnectOptions, patienceMs: number): Promise<Socket> {
  const socket = url.protocol === 'https:' ? openTls(url, address, options.tls) : openTcp(url, address);
  socket.on('error', () => {});
  socket.setTimeout(patienceMs, () => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })));
  // Before the other listeners of this event: one of them starts the TLS handshake.
  socket.prependOnceListener('connect', () => {
    socket.setTimeout(0);
    if (socket.remoteAddress && !options.mayCall(socket.remoteAddress)) {
      socket.destroy(new AttemptError('blocked', 'private_address'));
    }
  });
  try {
    await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect', { signal: options.signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (socket instanceof TLSSocket && socket.authorizationError)
      throw new AttemptError('failed', certificateFault(socket));
    throw error;
  }
}

/** An expired certificate is the fault that a partner's operator can see and mend. */
function certificateFault({ authorizationError }: TLSSocket): string {
  return String(authorizationError) === 'CERT_HAS_EXPIRED' ? 'certificate_expired' : 'certificate';
}

function openTcp(url: URL, address: string): Socket {
  const socket: Socket = tcpConnect(dialling(address, url.port || 80, () => socket));
  return socket;
}

function openTls(url: URL, address: string, { context, sessions }: TlsClient): TLSSocket {
  const host = hostOf(url);
  const socket: TLSSocket = tlsConnect({
    ...dialling(address, url.port || 443, () => socket),
    servername: isIP(host) === 0 ? host : undefined,
    secureContext: context,
    session: sessions.get(url.origin),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // said here because NODE_TLS_REJECT_UNAUTHORIZED=0 would else be obeyed
  });
  // Node emits this for verified connections only: a resumed session is not verified again.
  return socket.on('session', (session) => remember(sessions, url.origin, session));
}

/**
 * Where to, and how it is read: in pieces, and not on once another piece could exceed the limit. A status line among those
 * is judged before that: `push` hands it on in this very tick.
 */
function dialling(address: string, port: string | number, socketOf: () => Socket) {
  const callback = (bytes: number, read: Uint8Array): boolean => {
    const socket = socketOf();
    const chunk = Buffer.from(read.subarray(0, bytes));
    textRead.set(socket, textReadFrom(socket) + chunk.toString('latin1'));
    const goesOn = socket.push(chunk);
    if (socket.bytesRead + piece.length <= maxReadBytes) return goesOn;
    socket.destroy(new AttemptError('failed', 'answer_too_long'));
    return false;
  };
  return { host: address, port: Number(port), onread: { buffer: piece, callback } };
}

function remember(sessions: Map<string, Buffer>, origin: string, session: Buffer): void {
  sessions.delete(origin);
  sessions.set(origin, session);
  const [oldest] = sessions.keys();
  if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
}
