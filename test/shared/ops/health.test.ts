import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Logger } from '../../../shared/base/logger.ts';
import { RedisProblem } from '../../../shared/base/redis-problem.ts';
import { version } from '../../../shared/base/version.ts';
import { healthListener, type ReadinessCheck } from '../../../shared/process/ops/health.ts';
import { rawRequest, requestText } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

describe('health endpoints', () => {
  let server: http.Server;
  let url: string;
  let logged: object[];
  const checks: Record<string, ReadinessCheck> = {};

  beforeEach(async () => {
    logged = [];
    checks.mongo = checks.redis = async () => {};
    const each = Object.fromEntries(['mongo', 'redis'].map((name) => [name, () => (checks[name] as ReadinessCheck)()]));
    const listener = healthListener(each, { error: (line: object) => logged.push(line) } as unknown as Logger);
    server = http.createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const statusOf = async (path: string, method = 'GET') => (await fetch(url + path, { method })).status;

  it('/readyz answers 200 if every check passes', async () => {
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(await answer.json()).to.deep.equal({ status: 'ready' });
  });

  it('/healthz names the version', async () => {
    expect(await (await fetch(`${url}/healthz`)).json()).to.deep.equal({ status: 'ok', version });
  });

  it('if one check fails, /readyz answers 503, its name is logged, and /healthz stays at 200', async () => {
    checks.redis = () => Promise.reject(new Error('redis://user:password@host'));
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).to.equal(503);
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(await answer.json()).to.have.all.keys('error');
    expect(logged).to.have.length(1);
    expect(logged[0]).to.include({ check: 'redis' });
    expect(JSON.stringify(logged)).not.to.include('password');
    expect(await statusOf('/healthz')).to.equal(200);
  });

  it('if Redis has a problem, the log and the answer of /readyz name it', async () => {
    checks.redis = () => Promise.reject(new RedisProblem('redis_full'));
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).to.equal(503);
    expect((await answer.json()).error).to.match(/^Redis is full \(OOM\)/);
    expect(logged).to.have.length(1);
    expect(logged[0]).to.deep.include({ check: 'redis' });
    expect((logged[0] as { error: object }).error).to.include({ code: 'redis_full' });
  });

  it('all requests that arrive while a check runs share it, and its failure is logged once', async () => {
    let arrived = 0;
    checks.mongo = () =>
      new Promise((_resolve, reject) => {
        server.on('request', () => {
          arrived += 1;
          if (arrived === 5) reject(new Error('away'));
        });
      });
    const statuses = await Promise.all(Array.from({ length: 6 }, () => statusOf('/readyz')));
    expect(new Set(statuses)).to.deep.equal(new Set([503]));
    expect(logged).to.have.length(1);
  });

  it('each check runs at most once a second, and the end of an outage is noticed', async () => {
    const startedAt = performance.now();
    let [runs, isAway] = [0, true];
    checks.mongo = async () => {
      runs += 1;
      if (isAway) throw new Error('away');
    };
    const during = await Promise.all(Array.from({ length: 20 }, () => statusOf('/readyz')));
    expect(new Set(during)).to.deep.equal(new Set([503]));
    isAway = false;
    await until(async () => (await statusOf('/readyz')) === 200);
    expect(runs).to.be.within(2, 1 + (performance.now() - startedAt) / 1_000);
  });

  it('health endpoints answer HEAD, ignore the query, and refuse other methods and paths', async () => {
    expect(await statusOf('/healthz?x=1')).to.equal(200);
    expect(await statusOf('/readyz', 'HEAD')).to.equal(200);
    expect(await statusOf('/readyz', 'POST')).to.equal(405);
    expect(await statusOf('/metrics')).to.equal(404);
  });

  it('health endpoints answer a request target that begins with scheme and host', async () => {
    const { port } = server.address() as AddressInfo;
    const lines = ['GET http://rides.example/healthz?x=1 HTTP/1.1', 'Host: rides.example', 'Connection: close'];
    expect((await rawRequest(`http://127.0.0.1:${port}`, requestText(lines))).status).to.equal(200);
  });
});
