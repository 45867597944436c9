import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { breakBody } from './broken-body.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Beyond so many requests that wait for their answer, a connection is not read. */
const mostWaiting = 16;

/** How long a client may take to read its refusal, while what it still sends is discarded. */
const lingerMs = 1_000;

/**
 * The requests of one connection. They are handled one after the other: a pipelined request begins when the one before it
 * is answered, so that each gets its own answer or, where it never began, none.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #handle: Handle;
  /** The first is being handled, the others wait. */
  readonly #exchanges: { request: IncomingMessage; response: ServerResponse }[] = [];
  /** Answered before its body had come. */
  #unread?: IncomingMessage;
  /** Why nothing more can be read: it is told after the last answer. */
  #fault?: AppError;
  #isRefused = false;
  #isHeld = false;
  #isLeaving = false;
  #isDrained = false;

  constructor(socket: Socket, handle: Handle) {
    this.#socket = socket;
    this.#handle = handle;
    // Node resumes the socket after each message that it has parsed.
    socket.on('resume', () => this.#isHeld && socket.pause());
  }

  /** Handles a request, when those before it are answered. */
  take(request: IncomingMessage, response: ServerResponse): void {
    this.#exchanges.push({ request, response });
    if (this.#exchanges.length === 1) this.#begin();
    else if (this.#exchanges.length > mostWaiting) this.#hold();
  }

  /** Tells the client with its next answer that the connection closes: what waits behind that one never begins. */
  leave(): void {
    this.#isLeaving = true;
    const [current] = this.#exchanges;
    if (current) current.response.shouldKeepAlive = false;
  }

  /** Closes the connection now, or when its request is answered. */
  close(): void {
    this.#isDrained = true;
    if (this.#exchanges.length === 0) this.#socket.destroySoon();
  }

  /** Node cannot read on. What was read before is answered first; then comes the refusal, in the contract's form. */
  refuse({ code = '' }: Partial<NodeJS.ErrnoException>): void {
    if (this.#isRefused) return;
    // No bytes received, or a request that has been answered already: close without a response.
    const isAnswered = this.#unread?.complete === false;
    if (code === 'ECONNRESET' || !this.#socket.writable || this.#socket.bytesRead === 0 || isAnswered) {
      this.#socket.destroy();
      return;
    }
    // The client is not slow: this side has stopped reading.
    if (this.#isHeld && code === 'ERR_HTTP_REQUEST_TIMEOUT') return;
    const error = new AppError(codes[code] ?? 'invalid_request');
    const last = this.#exchanges.at(-1);
    if (last?.request.complete === false) {
      if (this.#exchanges.length === 1) {
        last.response.shouldKeepAlive = false;
        breakBody(last.request, error);
        return;
      }
      this.#exchanges.pop();
    }
    this.#fault ??= error;
    if (this.#exchanges.length === 0) this.#sendRefusal(this.#fault);
  }

  #begin(): void {
    const [current] = this.#exchanges;
    if (!current) return;
    if (this.#isLeaving) current.response.shouldKeepAlive = false;
    current.response.once('close', () => this.#answered(current.request));
    this.#handle(current.request, current.response);
  }

  #answered(request: IncomingMessage): void {
    this.#exchanges.shift();
    if (!request.complete) {
      this.#unread = request;
      // Discards the rest of the body: the next request stands behind it.
      request.resume();
    }
    if (!this.#socket.writable) return;
    if (this.#isHeld && this.#exchanges.length <= mostWaiting) this.#release();
    if (this.#exchanges.length > 0) this.#begin();
    else if (this.#fault) this.#sendRefusal(this.#fault);
    else if (this.#isDrained) this.#socket.destroySoon();
  }

  #hold(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  #release(): void {
    this.#isHeld = false;
    this.#socket.resume();
  }

  #sendRefusal({ status, message }: AppError): void {
    this.#isRefused = true;
    const body = JSON.stringify({ error: message });
    this.#socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `X-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    const linger = setTimeout(() => this.#socket.destroy(), lingerMs);
    this.#socket.once('close', () => clearTimeout(linger));
  }
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
