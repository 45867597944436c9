import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, type ErrorCode, errorCodeHeader } from '../../shared/base/errors.ts';
import { breakBody } from './body.ts';
import { jsonError } from './handle-errors.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Reading pauses while more than this many pipelined requests are waiting. */
const maxWaiting = 16;

/** After a refusal the connection stays open this long for the client to read it; further input is discarded. */
const lingerMs = 1_000;

/**
 * Handles the requests of one connection one after the other: a pipelined request begins when the previous one has been
 * answered. Each request that has begun gets its own response; one that never began gets none. Node orders only the
 * responses: it begins all pipelined requests at once, also those behind a response that closes the connection, and it
 * refuses malformed ones without a body.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #handle: Handle;
  /** The first request is being handled; the others are waiting. */
  readonly #exchanges: { request: IncomingMessage; response: ServerResponse }[] = [];
  /** The request that was answered last, if it was answered before its whole body had arrived. */
  #unread?: IncomingMessage;
  /** The reason why no further request can be read. Sent after the last response. */
  #fault?: AppError;
  #isRefused = false;
  #isPaused = false;
  #isClosing = false;
  #closesWhenIdle = false;

  constructor(socket: Socket, handle: Handle) {
    this.#socket = socket;
    this.#handle = handle;
    // Pauses again, because Node resumes the socket after each message that it has parsed.
    socket.on('resume', () => this.#isPaused && socket.pause());
  }

  /** Adds a request, which is handled after the earlier ones are answered. */
  enqueue(request: IncomingMessage, response: ServerResponse): void {
    this.#exchanges.push({ request, response });
    if (this.#exchanges.length === 1) this.#begin();
    else if (this.#exchanges.length > maxWaiting) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  /** Sends `Connection: close` with the next response. Requests that wait behind it never begin. */
  announceClose(): void {
    this.#isClosing = true;
    const [current] = this.#exchanges;
    if (current) current.response.shouldKeepAlive = false;
  }

  /** Closes the connection: now if it is idle, otherwise after the response in progress. */
  close(): void {
    this.#closesWhenIdle = true;
    if (this.#exchanges.length === 0) this.#socket.destroySoon();
  }

  /**
   * Call it when Node cannot parse further input. Answers the requests read so far, then sends an error in the form of
   * the contract, section 7, and closes the connection.
   */
  refuse({ code = '' }: Partial<NodeJS.ErrnoException>): void {
    if (this.#isRefused) return;
    // Closes without a response if the client is gone, if it has sent nothing, or if the request that cannot be parsed
    // was already answered.
    const isAnswered = this.#unread?.complete === false;
    if (code === 'ECONNRESET' || !this.#socket.writable || this.#socket.bytesRead === 0 || isAnswered) {
      this.#socket.destroy();
      return;
    }
    // Ignores the timeout of a request that is late only because this process has paused reading.
    if (this.#isPaused && code === 'ERR_HTTP_REQUEST_TIMEOUT') return;
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
    if (this.#isClosing) current.response.shouldKeepAlive = false;
    current.response.once('close', () => this.#answered(current.request));
    this.#handle(current.request, current.response);
  }

  #answered(request: IncomingMessage): void {
    this.#exchanges.shift();
    if (!request.complete) {
      this.#unread = request;
      // Discards the rest of the body, because the next request follows it.
      request.resume();
    }
    if (!this.#socket.writable) return;
    if (this.#isPaused && this.#exchanges.length <= maxWaiting) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    if (this.#exchanges.length > 0) this.#begin();
    else if (this.#fault) this.#sendRefusal(this.#fault);
    else if (this.#closesWhenIdle) this.#socket.destroySoon();
  }

  #sendRefusal(error: AppError): void {
    this.#isRefused = true;
    const body = JSON.stringify(jsonError(error));
    this.#socket.end(
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `X-Request-Id: ${randomUUID()}\r\n${errorCodeHeader}: ${error.headers[errorCodeHeader]}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    const linger = setTimeout(() => this.#socket.destroy(), lingerMs);
    this.#socket.once('close', () => clearTimeout(linger));
  }
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
