import { readConfig } from '../shared/base/config.ts';
import type { Context } from '../shared/base/context.ts';
import { pingMongo } from '../shared/base/mongo/connect-mongo.ts';
import { version } from '../shared/base/version.ts';
import { openContext } from '../shared/process/open-context.ts';
import { startOpsServer } from '../shared/process/ops/ops-server.ts';
import { startWarnings } from '../shared/process/ops/start-warnings.ts';
import { shutdownOnSignal } from '../shared/process/shutdown.ts';
import { createApp, operatorsListener } from './app.ts';
import { serve } from './http/serve.ts';
import type { Part } from './part.ts';

/** Clients have this long to send one more request and read `Connection: close`; then idle connections are closed. */
const drainMs = 500;

/** Reads the settings, connects and listens. `more` creates parts that exist only in development. */
export async function runApi(more: (service: Context) => Promise<Part[]> = async () => []): Promise<void> {
  const config = readConfig();
  const service = await openContext(config, 'api');
  const server = await serve(service, createApp(service, await more(service)));
  const watch = startWarnings(service);
  const ops = await startOpsServer(service, {
    processName: 'api',
    checks: { mongo: pingMongo },
    pages: await operatorsListener(service),
  });
  service.log.info({ version, host: config.host, port: server.port }, 'listening');
  shutdownOnSignal(service.log, config.shutdownGraceMs, async () => {
    await server.close(drainMs);
    watch.stop();
    await ops?.close();
    await service.close();
  });
}
