import { once } from 'node:events';
import http from 'node:http';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { AppError } from '../../shared/base/errors.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import { validRide } from '../support/client.ts';
import { useFolder } from '../support/folder.ts';
import { useTestContext } from '../support/service.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { requiredSettings } from './compose.ts';
import { type CaddyProxy, type ProxyAnswer, productionConfig, startProxy } from './debian-caddy.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function expectError(answer: ProxyAnswer, error: AppError, status = error.status): void {
  expect(answer.status).to.equal(status);
  expect(answer.body).to.deep.equal({ error: error.message });
  expect(answer.headers['x-service-error']).to.equal(error.code);
  expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
  expect(answer.headers['x-request-id']).to.match(uuid);
  expect(answer.headers).not.to.have.property('server');
}

describe('the production proxy', function () {
  // The first start on a machine fetches packages.
  this.timeout(180_000);

  const folder = useFolder();
  const ctx = useTestContext();
  const stops: (() => Promise<unknown>)[] = [];

  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  async function newKey(): Promise<NewKey> {
    const account = await accountOf('tests@rides.example');
    return createKey(ctx.config, { accountId: account._id, name: 'test', mode: 'test' });
  }

  async function proxyOf(apiPort: number, env?: Record<string, string>): Promise<CaddyProxy> {
    const proxy = await startProxy(apiPort, env);
    stops.push(() => proxy.stop());
    return proxy;
  }

  it('the proxy listens on 80 and 443, balances all API instances, and uses public certificates', async () => {
    const config = await productionConfig();
    const { http, tls } = JSON.parse(config).apps;
    const servers = Object.values<{ listen: string[] }>(http.servers);
    expect(servers.flatMap(({ listen }) => listen)).to.have.members([':443', ':80']);
    expect(config.match(/"dynamic_upstreams":\{[^}]*\}/g)).to.deep.equal(
      Array(2).fill('"dynamic_upstreams":{"name":"api","port":"4100","refresh":2000000000,"source":"a"}'),
    );
    expect(tls, 'Caddy’s own choice of certificates').to.equal(undefined);
  });

  describe('in front of the API', () => {
    let api: ServiceProcess;
    let proxy: CaddyProxy;
    let key: string;

    before(async () => {
      const port = await freePort();
      const env = {
        PORT: String(port),
        MONGO_URL: ctx.config.secrets.mongoUrl,
        REDIS_URL: ctx.config.secrets.redisUrl,
        SECRETS_KEY: requiredSettings.SECRETS_KEY,
        PUBLIC_BASE_URL: 'https://rides.example',
        TRUSTED_PROXY_HOPS: '1',
      };
      api = serviceProcess({ name: 'api', script: 'api/main', env, output: { logDir: folder.path } });
      await api.start();
      stops.push(() => api.stop());
      // The proxy waits long, because a restart of the API can be slow on a busy machine.
      proxy = await proxyOf(port, { API_WAIT: '60s' });
      key = (await newKey()).key;
    });

    it('the proxy reports HTTPS and plain HTTP as such to the API, whatever header the client sends', async () => {
      for (const said of ['http', 'https', 'http, https', '']) {
        const request = { path: '/v1', headers: { 'x-api-key': key, 'x-forwarded-proto': said } };
        const { status, headers } = await proxy.ask(request);
        expect(status).to.equal(200);
        expect(headers).not.to.have.property('server');
        const plain = await proxy.ask({ ...request, scheme: 'http' });
        expectError(plain, new AppError('https_required'));
        expect(plain.headers).not.to.have.property('location');
      }
    });

    it('the proxy hides health checks and operator pages, in any spelling of the path', async () => {
      const unknown = await proxy.ask({ path: '/nothing-here' });
      expectError(unknown, new AppError('not_found'));
      const hidden = ['/readyz', '/healthz', '/metrics', '/ops/queues', '/ops'];
      const spellings = ['/READYZ', '/readyz/', '//readyz', '/./readyz', '/v1/../readyz', '/%72eadyz', '/readyz?a=b'];
      for (const path of [...hidden, ...spellings]) {
        for (const scheme of ['https', 'http'] as const) {
          const answer = await proxy.ask({ scheme, path });
          expectError(answer, new AppError('not_found'));
          expect(answer.headers['retry-after']).to.equal(undefined);
        }
      }
    });

    it('a body over 16,384 bytes gets the contract’s error format, even if the proxy refuses it itself', async () => {
      for (const size of [16_385, 1_000_001, 3_000_000]) {
        const headers = { 'x-api-key': key, 'content-type': 'application/json' };
        const body = Buffer.alloc(size, ' ');
        const answer = await proxy.ask({ method: 'POST', path: '/v1/rides', headers, body });
        expectError(answer, new AppError('payload_too_large'));
      }
    });

    it('the proxy logs no key, no token and only the first segment of a path', async () => {
      await expectNothingSecretLogged(proxy, 404);
    });

    it('the proxy holds requests while the API restarts, and each creation makes one ride', async () => {
      const { key: own, keyId } = await newKey();
      const headers = { 'x-api-key': own, 'content-type': 'application/json' };
      let isBack = false;
      const reads: number[] = [];
      const reading = Array.from({ length: 8 }, async () => {
        while (!isBack) reads.push((await proxy.ask({ path: '/v1', headers })).status);
      });
      expect((await api.stop()).how).to.equal('code 0');
      const body = JSON.stringify(validRide);
      const creations = Array.from({ length: 20 }, () =>
        proxy.ask({ method: 'POST', path: '/v1/rides', headers, body }),
      );
      await api.start();
      const created = await Promise.all(creations);
      isBack = true;
      await Promise.all(reading);

      expect(new Set(reads)).to.deep.equal(new Set([200]));
      expect(created.map(({ status }) => status)).to.deep.equal(Array(20).fill(201));
      expect(await rides.countDocuments({ keyId })).to.equal(20);
    });
  });

  describe('without an API', () => {
    let apiPort: number;
    let proxy: CaddyProxy;

    before(async () => {
      apiPort = await freePort();
      proxy = await proxyOf(apiPort, { API_WAIT: '100ms' });
    });

    it('the proxy answers 502 in the error format of the contract', async () => {
      for (const [method, path] of [
        ['GET', '/v1'],
        ['POST', '/v1/rides'],
      ] as const) {
        const answer = await proxy.ask({ method, path });
        expectError(answer, new AppError('unavailable'), 502);
        expect(answer.headers['retry-after']).to.equal('1');
      }
    });

    it('the proxy answers 502 with an HTML page where the API serves pages', async () => {
      for (const path of ['/track/unknown', '/dashboard', '/dashboard/keys', '/drive']) {
        const answer = await proxy.ask({ path });
        expect(answer.status).to.equal(502);
        expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
        expect(answer.headers['x-service-error']).to.equal('unavailable');
        expect(answer.text).to.match(/^<!doctype html>.*Load the page again/s);
      }
    });

    it('the proxy logs no key, no token and only the first segment of a path', async () => {
      await expectNothingSecretLogged(proxy, 502);
    });

    it('the proxy forwards an event stream without delay and without compression', async () => {
      const api = http.createServer((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('data: first\n\n'); // and stays open
      });
      stops.push(async () => {
        api.closeAllConnections();
        api.close();
      });
      await once(api.listen(apiPort, '127.0.0.1'), 'listening');
      const stream = await proxy.open({
        path: '/track/token/stream',
        headers: { 'accept-encoding': 'gzip, br, zstd' },
      });
      expect(stream.headers).not.to.have.property('content-encoding');
      const [chunk] = await once(stream, 'data');
      expect(String(chunk)).to.equal('data: first\n\n');
      stream.destroy();
    });
  });
});

/** Sends secrets in every part of a request that can contain them, and checks the proxy's log. */
async function expectNothingSecretLogged(proxy: CaddyProxy, status: number): Promise<void> {
  const secret = 'zq7secret7qz';
  const headers = {
    'x-api-key': secret,
    authorization: `Bearer ${secret}`,
    'idempotency-key': secret,
    cookie: `session=${secret}`,
    referer: `https://rides.example/track/${secret}`,
  };
  const spellings = [`/%74rack/${secret}`, `/track%2f${secret}`, `//track/${secret}`, `/?${secret}`];
  for (const path of spellings) await proxy.ask({ path, headers });
  const { headers: answered } = await proxy.ask({ path: `/track/${secret}?token=${secret}`, headers });
  const requestId = String(answered['x-request-id']);
  const lineOf = () =>
    proxy
      .log()
      .split('\n')
      .find((line) => line.includes(requestId));
  await until(async () => lineOf() !== undefined);
  const line = JSON.parse(lineOf() ?? '');
  expect(line).to.deep.include({ status });
  expect(line.request).to.deep.include({ method: 'GET', host: 'rides.example', uri: '/track' });
  expect(proxy.log()).not.to.include(secret);
}
