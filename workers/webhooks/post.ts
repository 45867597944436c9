import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { before } from '../deadline.ts';
import { textReadFrom } from './connect.ts';
import { statusIn } from './status-line.ts';
import { AttemptError, type Verdict } from './verdict.ts';

const maxHeaderBytes = 16_384;

/** How long a receiver may go on writing an answer whose status line is all that counts. */
const drainMs = 500;

const maxRenewals = 3;

/** What is sent, and the claim on the event under which alone it may be sent. */
export type Message = {
  /** The exact text that was signed. */
  body: string;
  /** The contract's headers; null when the claim has become too old to write under it. */
  headersNow(): Record<string, string> | null;
  /** Claims the event anew; false when it is not ours to send any more. */
  renewClaim(): Promise<boolean>;
};

/**
 * Posts a message on a connection that stands, and judges the status line of the answer. Whatever comes of it, the
 * connection is closed; at most half a second later than the verdict when there is an answer to be read to its end.
 */
export async function post(url: URL, socket: Socket, message: Message, signal: AbortSignal): Promise<Verdict> {
  const request = openRequest(url, socket);
  try {
    await once(request, 'socket', { signal });
    const answer = answerTo(request);
    answer.catch(() => {}); // It is awaited below, but the connection can also fail while the claim is renewed.
    await writeUnderClaim(request, message, signal);
    const response = await before(signal, answer);
    drain(response, socket);
    return verdictOn(response.statusCode ?? 0);
  } catch (error) {
    request.destroy();
    socket.destroy();
    const status = request.writableEnded && isAfterStatusLine(error, signal) ? statusIn(textReadFrom(socket)) : null;
    if (status !== null) return verdictOn(status);
    throw error;
  }
}

/**
 * Whether a status line that came before this error still counts: it does where Node's parser refuses the rest of the head
 * or the connection ends in it, not where a limit of time or size is reached.
 */
function isAfterStatusLine(error: unknown, signal: AbortSignal): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return !signal.aborted && !(error instanceof AttemptError) && code !== 'HPE_HEADER_OVERFLOW';
}

/** A request on a connection that stands; nothing of it is written yet. */
function openRequest(url: URL, socket: Socket): ClientRequest {
  const { request: open } = url.protocol === 'https:' ? https : http;
  const request = open({
    method: 'POST',
    host: url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    headers: { Host: url.host, Connection: 'close', 'User-Agent': 'RidePartner-Webhooks/1' },
    createConnection: () => socket,
    maxHeaderSize: maxHeaderBytes,
    // Reads bare LF, folded lines and both length headers. The connection carries one answer, so none can be smuggled in.
    insecureHTTPParser: true,
  });
  return request.on('error', () => {});
}

// Informational answers are none: who sends them without end runs into the limit of time, or of what is read.
function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const endedWithout = () => reject(new AttemptError('failed', 'ECONNRESET'));
    request.once('response', (response) => {
      request.off('close', endedWithout);
      resolve(response);
    });
    request.once('error', reject);
    // Who answers with another protocol (101) makes Node close the request without a word.
    request.once('close', endedWithout);
  });
}

/**
 * Writes the request in the very tick in which the claim was seen to be young enough: after an `await` in between, a
 * process that was paused there could write what another one has sent in the meantime.
 */
async function writeUnderClaim(request: ClientRequest, message: Message, signal: AbortSignal): Promise<void> {
  for (let renewals = 0; renewals <= maxRenewals; renewals++) {
    const headers = message.headersNow();
    if (headers) return write(request, headers, message.body);
    await renew(message, signal);
  }
  throw new AttemptError('lost', 'claim_too_old');
}

function write(request: ClientRequest, headers: Record<string, string>, body: string): void {
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
  request.setHeader('Content-Type', 'application/json');
  request.setHeader('Content-Length', Buffer.byteLength(body));
  request.end(body);
}

// That MongoDB does not answer is no fault of the receiver: the event stays unsettled, and is tried again.
async function renew(message: Message, signal: AbortSignal): Promise<void> {
  let isOurs: boolean;
  try {
    isOurs = await before(signal, message.renewClaim());
  } catch {
    throw new AttemptError('lost', 'claim_unknown');
  }
  if (!isOurs) throw new AttemptError('lost', 'claim_taken');
}

function verdictOn(httpStatus: number): Verdict {
  if (httpStatus >= 200 && httpStatus < 300) return { outcome: 'delivered', httpStatus };
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  return { outcome: 'failed', httpStatus, reason: isRedirect ? 'redirect' : 'status' };
}

// A short answer is read to its end, so that an honest receiver sees its connection closed and not reset.
function drain(response: IncomingMessage, socket: Socket): void {
  const timer = setTimeout(() => response.destroy(), drainMs);
  response.on('error', () => {});
  response.resume();
  response.once('close', () => {
    clearTimeout(timer);
    socket.destroy();
  });
}
