import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../shared/base/context.ts';
import { ConfigError } from '../../shared/base/errors.ts';
import { Connection } from './connection.ts';

/** An application that `serve` runs, e.g. a plain Koa application. */
export interface App {
  callback(): RequestListener;
  /** Ends the responses that are held open. */
  endHeld?(): void;
  close?(): Promise<void>;
}

export interface HttpServer {
  port: number;
  /**
   * Stops accepting connections, ends held responses, sends `Connection: close` with each response for drainMs, then
   * closes idle connections. Resolves when every request that has begun is answered.
   */
  close(drainMs?: number): Promise<void>;
}

/** A request whose headers take over 10 s, or that takes over 12 s as a whole, is refused with a 408. */
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 12_000,
  // Each check of these times blocks all requests while it runs. The interval is short, so that each check has few
  // requests to refuse.
  connectionsCheckingInterval: 100,
};

/** A connection on which nothing is sent or received for this long is closed. */
export const idleTimeoutMs = 14_000;

/** At most this many connections wait to be accepted. Further ones are dropped; their clients retry after 1 s. */
const backlog = 4_096;

/** Listens on the configured host and port. Throws ConfigError if that fails. */
export async function serve(ctx: Context, app: App, limits: Partial<typeof timeouts> = {}): Promise<HttpServer> {
  const handle = app.callback();
  // `refuseMalformed` refuses a missing Host in the form of the contract; Node would send no body.
  const options = { ...timeouts, requireHostHeader: false, keepAliveTimeout: ctx.config.keepAliveMs, ...limits };
  const server = createServer(options);
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket, handle));
    socket.once('close', () => connections.delete(socket));
  });
  const enqueue: RequestListener = (request, response) => connections.get(request.socket)?.enqueue(request, response);
  server.on('request', enqueue);
  // Ignores an unknown Expect header, which Node itself would refuse with a 417 without a body.
  server.on('checkExpectation', enqueue);
  server.on('clientError', (error, socket) => connections.get(socket as Socket)?.refuse(error));
  server.on('connect', (_request, socket) => {
    // Refuses CONNECT, but answers the requests before it. The `error` listener is needed because Node has removed its
    // own listeners from the socket.
    socket.on('error', () => {}).resume();
    connections.get(socket as Socket)?.refuse({});
  });
  server.setTimeout(idleTimeoutMs);
  // A client that closes its side after its last request is still answered (RFC 9112, section 9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.listen({ port: ctx.config.port, host: ctx.config.host, backlog });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw new ConfigError(`Settings HOST and PORT: cannot listen on ${ctx.config.host}:${ctx.config.port} (${code})`);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async (drainMs = 0) => {
      const closed = once(server, 'close');
      // Only stops listening. Node's http `close()` would also close idle connections at once, and a request that a
      // client sends at that moment would be lost. Instead, each response announces the close for drainMs; then idle
      // connections are closed.
      NetServer.prototype.close.call(server);
      app.endHeld?.();
      for (const connection of connections.values()) connection.announceClose();
      await setTimeout(drainMs);
      for (const connection of connections.values()) connection.close();
      await closed;
      await app.close?.();
    },
  };
}
