import { once } from 'node:events';
import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { rejectOnAbort } from '../base/abort-signal.ts';
import { AttemptError, type AttemptResult } from './attempt-outcome.ts';
import { receivedText } from './connect.ts';
import { answerBytes, enter, noteAnswer, noteDrained, type Trace } from './trace.ts';

/** Node's parser must not give up before `connect` stops reading, after 64 kB. */
const maxHeaderBytes = 131_072;

/** The time limit for reading the rest of the answer, after its status line. */
const drainMs = 500;

const maxRenewals = 3;

/** The message to send, and the claim under which it may be sent. */
export type Message = {
  /** The exact text that was signed. */
  body: string;
  /** The contract's headers, signed for now. Null if the claim or the key's settings are too old to send. */
  headersNow(): Record<string, string> | null;
  /** Renews the claim and the settings if they are too old. Resolves with false if another run holds the event. */
  renewClaim(): Promise<boolean>;
};

/** Posts a message, evaluates the status line, and closes the connection after reading on for at most 0.5 s. */
export async function post(
  url: URL,
  socket: Socket,
  message: Message,
  trace: Trace,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const request = openRequest(url, socket);
  try {
    await once(request, 'socket', { signal });
    const answer = answerTo(request);
    answer.catch(() => {}); // It is awaited below, but can reject earlier: the connection may fail during a renewal.
    await writeUnderClaim(request, message, trace, signal);
    const response = await rejectOnAbort(signal, answer);
    trace.answerHeaders = keptHeaders(response.headers, url);
    drain(response, socket, trace);
    return resultFor(response.statusCode ?? 0);
  } catch (error) {
    request.destroy();
    socket.destroy();
    const text = receivedText(socket);
    if (text) noteAnswer(trace, Buffer.from(text.slice(0, answerBytes), 'latin1'));
    // Nothing after the status line changes the outcome: neither a limit nor an end within the head.
    const status = request.writableEnded ? statusIn(text) : null;
    if (status !== null) {
      trace.isRawHead = true;
      return resultFor(status);
    }
    if (isHttp2(text)) throw new AttemptError('failed', 'http2');
    throw error;
  }
}

/** Creates a request on an open connection. Writes nothing yet. */
function openRequest(url: URL, socket: Socket): ClientRequest {
  const { request: open } = url.protocol === 'https:' ? https : http;
  const request = open({
    method: 'POST',
    host: url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    headers: { Host: url.host, Connection: 'close', Accept: '*/*', 'User-Agent': 'RidePartner-Webhooks/1' },
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
    // Accepts bare LF, folded lines and both length headers. This cannot smuggle a second answer, because a connection
    // carries only one.
    insecureHTTPParser: true,
  });
  return request.on('error', () => {});
}

// 1xx responses are ignored; the time and size limits bound them.
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new AttemptError('failed', 'ECONNRESET'));
    request.once('response', (response) => {
      request.off('close', onClose);
      resolve(response);
    });
    request.once('error', reject);
    // After a 101 answer, Node only closes the request: it emits neither a response nor an error.
    request.once('close', onClose);
  });
}

/**
 * Writes the request in the same tick in which it checks that claim and settings are fresh. With an `await` in between,
 * a paused process could write an event that another process has already sent, or sign it with a secret that was
 * rolled.
 */
async function writeUnderClaim(
  request: ClientRequest,
  message: Message,
  trace: Trace,
  signal: AbortSignal,
): Promise<void> {
  for (let renewals = 0; renewals <= maxRenewals; renewals++) {
    const headers = message.headersNow();
    if (headers) return write(request, headers, message.body, trace);
    await renew(message, signal);
  }
  throw new AttemptError('lost', 'claim_too_old');
}

function write(request: ClientRequest, headers: Record<string, string>, body: string, trace: Trace): void {
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
  request.setHeader('Content-Type', 'application/json');
  request.setHeader('Content-Length', Buffer.byteLength(body));
  request.end(body);
  enter(trace, 'answer');
  trace.writtenAt ??= trace.since;
  trace.headers = Object.fromEntries(
    request.getRawHeaderNames().map((name) => [name, String(request.getHeader(name))]),
  );
}

// If MongoDB does not answer, the attempt is `lost`, not `failed`: the event stays unsettled and gets another attempt.
async function renew(message: Message, signal: AbortSignal): Promise<void> {
  let isOurs: boolean;
  try {
    isOurs = await rejectOnAbort(signal, message.renewClaim());
  } catch (error) {
    throw error instanceof AttemptError ? error : new AttemptError('lost', 'claim_unknown');
  }
  if (!isOurs) throw new AttemptError('lost', 'claim_taken');
}

/** These statuses have a location to which a client would go. A 304 and a 300 have none. */
const redirects: readonly number[] = [301, 302, 303, 307, 308];

function resultFor(httpStatus: number): AttemptResult {
  if (httpStatus >= 200 && httpStatus < 300) return { outcome: 'delivered', httpStatus };
  return { outcome: 'failed', httpStatus, reason: redirects.includes(httpStatus) ? 'redirect' : 'status' };
}

/** The headers of an answer that help to find a fault. Others are not kept: they could contain a secret. */
const keptNames = [
  'content-type',
  'content-encoding',
  'content-length',
  'server',
  'via',
  'date',
  'retry-after',
  'allow',
  'location',
  'www-authenticate',
  'x-request-id',
  'x-correlation-id',
  'cf-ray',
  'x-amzn-requestid',
  'x-amzn-errortype',
] as const;

/** A longer value is cut. */
const mostCharacters = 200;

/** Selects the headers of an answer that are kept, each with at most 200 characters. `url` is the address called. */
function keptHeaders(headers: IncomingHttpHeaders, url: URL): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of keptNames) {
    const value = name === 'location' ? originOf(headers.location, url) : headers[name];
    if (typeof value === 'string' && value !== '') kept[name] = value.slice(0, mostCharacters);
  }
  return kept;
}

/** Only the origin of a redirect: its path and its query could contain a secret. Undefined if it leads to no host. */
function originOf(location: string | undefined, url: URL): string | undefined {
  if (!location || !URL.canParse(location, url.href)) return undefined;
  const { origin } = new URL(location, url);
  return origin === 'null' ? undefined : origin;
}

// Reads a short answer to its end, so that the receiver sees a closed connection, not a reset one.
function drain(response: IncomingMessage, socket: Socket, trace: Trace): void {
  const timer = setTimeout(() => response.destroy(), drainMs);
  trace.isDraining = true;
  response.on('error', () => {});
  response.on('data', (bytes) => noteAnswer(trace, bytes));
  response.once('close', () => {
    clearTimeout(timer);
    socket.destroy();
    noteDrained(trace);
  });
}

/** A status line (RFC 9112, section 4). The reason phrase is optional, and the line may end in a bare LF. */
const statusLine = /^HTTP\/1\.\d (\d{3})(?: [^\r\n]*)?\r?\n/;
const endOfHead = /\r?\n\r?\n/;
/** True if the bytes begin with the SETTINGS frame of a server that speaks only HTTP/2 (RFC 9113, section 3.4). */
const isHttp2 = (received: string): boolean => received.startsWith('\0\0') && received.slice(3, 9) === '\x04\0\0\0\0\0';

/**
 * The status of the answer that these bytes begin with, or null while its status line is incomplete. Ignores everything
 * after the status line. Skips 1xx responses, except a 101, after which HTTP ends.
 */
function statusIn(received: string): number | null {
  let rest = received;
  for (;;) {
    const status = Number(statusLine.exec(rest)?.[1] ?? 0);
    if (status >= 200 || status === 101) return status;
    const end = status === 0 ? null : endOfHead.exec(rest);
    if (!end) return null;
    rest = rest.slice(end.index + end[0].length);
  }
}
