import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type Koa from 'koa';
import { ConfigError } from '../../shared/config.ts';
import type { Context } from '../../shared/context.ts';
import { Connection } from './connection.ts';

export interface Serving {
  port: number;
  /** Takes no new connection, sees its clients off for drainMs, and resolves when every request that has begun is answered. */
  close(drainMs?: number): Promise<void>;
}

/** What is slow to arrive is cut: headers after 10 s, the whole request after 12 s. */
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 12_000,
  keepAliveTimeout: 30_000,
  // Often, so that few are to be cut at a time: the others' requests wait meanwhile.
  connectionsCheckingInterval: 100,
};

const serverOptions = {
  // Node would answer without a body; `wellFormed` refuses a missing Host in the contract's form.
  requireHostHeader: false,
};

/** Connections that may wait to be taken: one beyond it would be dropped, and try again after a second. */
const backlog = 4_096;

/** Listens on the configured host and port, or throws ConfigError where that cannot be. */
export async function serve(ctx: Context, app: Koa, limits: Partial<typeof timeouts> = {}): Promise<Serving> {
  const handle = app.callback();
  const server = createServer({ ...serverOptions, ...timeouts, ...limits });
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket, handle));
    socket.once('close', () => connections.delete(socket));
  });
  const take: RequestListener = (request, response) => connections.get(request.socket)?.take(request, response);
  server.on('request', take);
  // An Expect header that Node does not know is no reason to refuse, least of all without a body.
  server.on('checkExpectation', take);
  server.on('clientError', (error, socket) => connections.get(socket as Socket)?.refuse(error));
  server.on('connect', (_request, socket) => {
    // Node has taken its listeners away. Nothing is tunnelled, but the requests before this one are still answered.
    socket.on('error', () => {}).resume();
    connections.get(socket as Socket)?.refuse({});
  });
  // Nor does a connection stay open that never sends anything.
  server.setTimeout(14_000);
  // A client that has sent its last request may close its side, and is answered all the same (RFC 9112, section 9.6).
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
      // The close of net, not of http: that one would close the idle connections at once.
      NetServer.prototype.close.call(server);
      // A client that goes on asking on its connection would keep it for ever; one that asks in the very moment in
      // which an idle connection is closed would lose its request. So each is told, with its next answer, to go.
      for (const connection of connections.values()) connection.leave();
      await setTimeout(drainMs);
      for (const connection of connections.values()) connection.close();
      await closed;
    },
  };
}
