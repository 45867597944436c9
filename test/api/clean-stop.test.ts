import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type HttpServer, serve } from '../../api/http/serve.ts';
import { testConfig, useTestContext } from '../support/service.ts';

/** Repeats a request on one keep-alive connection until one fails. `refused` is the reason why it failed. */
async function askUntilRefused(port: number): Promise<{ statuses: number[]; refused: string }> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  for (;;) {
    const request = http.get({ port, host: '127.0.0.1', path: '/healthz', agent });
    try {
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      statuses.push(response.statusCode ?? 0);
      response.resume();
      await once(response, 'end');
    } catch {
      agent.destroy();
      return { statuses, refused: request.reusedSocket ? 'a request on a kept connection' : 'a new connection' };
    }
  }
}

describe('shutdown of the API', () => {
  const ctx = useTestContext();
  let server: HttpServer;
  beforeEach(async () => {
    server = await serve(ctx, createApp(ctx));
  });

  it('an API that shuts down answers every request on its connections, and refuses only new connections', async () => {
    const clients = Array.from({ length: 4 }, () => askUntilRefused(server.port));
    await once(http.get({ port: server.port, host: '127.0.0.1', path: '/healthz' }), 'response');
    await server.close(1_000);
    for (const { statuses, refused } of await Promise.all(clients)) {
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      expect(refused).to.equal('a new connection');
    }
  });

  it('an idle connection is kept for KEEP_ALIVE_SECONDS, which is longer than proxies keep theirs', async () => {
    const keptBy = async ({ port }: HttpServer) => {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`);
      return response.headers.get('keep-alive');
    };
    expect(await keptBy(server)).to.equal('timeout=75');
    const other = { ...ctx, config: testConfig({ KEEP_ALIVE_SECONDS: '120' }) };
    const patient = await serve(other, createApp(other));
    expect(await keptBy(patient)).to.equal('timeout=120');
    await Promise.all([server.close(), patient.close()]);
  });

  it('an API that shuts down does not wait for a connection that never sends anything', async () => {
    const bare = net.connect(server.port, '127.0.0.1');
    await once(bare, 'connect');
    const closed = once(bare, 'close');
    bare.on('error', () => {}).resume();
    await server.close();
    await closed;
  });
});
