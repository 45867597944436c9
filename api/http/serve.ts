import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type Koa from 'koa';
import { ConfigError } from '../../shared/config.ts';
import type { Context } from '../../shared/context.ts';
import { AppError, type ErrorCode } from '../../shared/errors.ts';

export interface Serving {
  port: number;
  /** Takes no new connection, sees its clients off for drainMs, and resolves when every request is answered. */
  close(drainMs?: number): Promise<void>;
}

/** What is slow to arrive is cut: headers after 10 s, the whole request after 12 s. */
const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 12_000,
  keepAliveTimeout: 30_000,
  // Often, so that few are to be cut at a time: the others' requests wait meanwhile.
  connectionsCheckingInterval: 100,
  // Node would answer without a body; `wellFormed` refuses a missing Host in the contract's form.
  requireHostHeader: false,
};

/** Connections that may wait to be taken: one beyond it would be dropped, and try again after a second. */
const backlog = 4_096;

/** Listens on the configured host and port, or throws ConfigError where that cannot be. */
export async function serve(ctx: Context, app: Koa): Promise<Serving> {
  const handle = app.callback();
  const answering = new Map<Socket, { request: IncomingMessage; response: ServerResponse }>();
  let isClosing = false;
  const answer: RequestListener = (request, response) => {
    answering.set(request.socket, { request, response });
    response.once('close', () => answering.delete(request.socket));
    if (isClosing) response.shouldKeepAlive = false;
    void handle(request, response);
  };
  const server = createServer(serverOptions, answer);
  const connected = new Set<Socket>();
  server.on('connection', (socket) => {
    connected.add(socket);
    socket.once('close', () => connected.delete(socket));
  });
  // Nor does a connection stay open that never sends anything.
  server.setTimeout(14_000);
  // An Expect header that Node does not know is no reason to refuse, least of all without a body.
  server.on('checkExpectation', answer);
  server.on('clientError', (error, socket) => {
    // Whose request has arrived whole gets its own answer or none: a refusal would deny what may have been done.
    if (answering.get(socket as Socket)?.request.complete) socket.destroy();
    else refuseMalformed(error, socket as Socket);
  });
  server.listen({ port: ctx.config.port, host: ctx.config.host, backlog });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw new ConfigError(`Settings HOST and PORT: cannot listen on ${ctx.config.host}:${ctx.config.port} (${code})`);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async (drainMs = 0) => {
      const closed = once(server, 'close');
      // A client that goes on asking on its connection would keep it for ever; one that asks in the very moment in
      // which an idle connection is closed would lose its request. So each is told, with its next answer, to go.
      isClosing = true;
      for (const { response } of answering.values()) response.shouldKeepAlive = false;
      // The close of net, not of http: that one would close the idle connections at once.
      NetServer.prototype.close.call(server);
      await setTimeout(drainMs);
      for (const socket of connected) if (!answering.has(socket)) socket.destroy();
      await closed;
    },
  };
}

/** What Node refuses before Koa sees it is refused in the contract's form too. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  // Whoever never said anything is not told anything either.
  if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesRead === 0) {
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
