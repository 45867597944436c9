import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import type { Context } from '../../shared/context.ts';
import { AppError, type ErrorCode } from '../../shared/errors.ts';

export interface Serving {
  port: number;
  /** Takes no new connection and resolves when every request under way is answered. */
  close(): Promise<void>;
}

/** Listens on the configured host and port. Rejects with EADDRINUSE and its like. */
export async function serve(ctx: Context, app: Koa): Promise<Serving> {
  const handle = app.callback();
  const answering = new WeakMap<Socket, IncomingMessage>();
  const answer: RequestListener = (request, response) => {
    answering.set(request.socket, request);
    response.once('close', () => answering.delete(request.socket));
    void handle(request, response);
  };
  const server = createServer(
    // What is slow to arrive is cut: headers after 10 s, the whole request after 15 s.
    {
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      // Node would answer without a body; `wellFormed` refuses a missing Host in the contract's form.
      requireHostHeader: false,
    },
    answer,
  );
  // An Expect header that Node does not know is no reason to refuse, least of all without a body.
  server.on('checkExpectation', answer);
  server.on('clientError', (error, socket) => {
    // Whose request has arrived whole gets its own answer or none: a refusal would deny what may have been done.
    if (answering.get(socket as Socket)?.complete) socket.destroy();
    else refuseMalformed(error, socket as Socket);
  });
  server.listen(ctx.config.port, ctx.config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

/** What Node refuses before Koa sees it is refused in the contract's form too. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const codes: Record<string, ErrorCode> = {
    HPE_HEADER_OVERFLOW: 'headers_too_large',
    ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  };
  const { status, message } = new AppError(codes[error.code ?? ''] ?? 'invalid_request');
  const body = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
