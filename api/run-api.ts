import { readConfig } from '../shared/config.ts';
import { type Context, createContext } from '../shared/context.ts';
import { shutdownOnSignal } from '../shared/shutdown.ts';
import { createApp } from './app.ts';
import { serve } from './http/serve.ts';
import type { Middleware } from './types.ts';

/** A connection that is in use has been told to close by then. */
const drainMs = 500;

/** Configuration, connections, routes, and then the port. `more` makes the faces that only a development stack has. */
export async function runApi(more: (service: Context) => Middleware[] = () => []): Promise<void> {
  const config = readConfig();
  const service = await createContext(config, 'api');
  const server = await serve(service, createApp(service, more(service)));
  service.log.info({ host: config.host, port: server.port }, 'listening');
  shutdownOnSignal(service.log, config.shutdownGraceMs, async () => {
    await server.close(drainMs);
    await service.close();
  });
}
