import { readConfig } from '../shared/config.ts';
import { type Context, createContext } from '../shared/context.ts';
import { shutdownOnSignal } from '../shared/shutdown.ts';
import { createApp } from './app.ts';
import { serve } from './http/serve.ts';
import type { Part } from './part.ts';

/** How long clients have to read `Connection: close` on a last answer, before their idle connections are closed. */
const drainMs = 500;

/** Reads the configuration, connects, builds the app and listens. `more` makes the parts that only a development stack has. */
export async function runApi(more: (service: Context) => Part[] = () => []): Promise<void> {
  const config = readConfig();
  const service = await createContext(config, 'api');
  const server = await serve(service, createApp(service, more(service)));
  service.log.info({ host: config.host, port: server.port }, 'listening');
  shutdownOnSignal(service.log, config.shutdownGraceMs, async () => {
    await server.close(drainMs);
    await service.close();
  });
}
