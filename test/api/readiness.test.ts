import { expect } from 'chai';
import { call } from '../support/client.ts';
import { database } from '../support/failing-mongo.ts';
import { startTestApi, type TestApi } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('GET /readyz', () => {
  let api: TestApi;
  let pings: number;
  let command: () => Promise<unknown>;

  beforeEach(async () => {
    api = await startTestApi();
    pings = 0;
    database().command = () => {
      pings += 1;
      return command() as never;
    };
  });
  afterEach(async () => {
    Reflect.deleteProperty(database(), 'command');
    await api.close();
  });

  const ask = async () => (await call(`${api.url}/readyz`)).status;
  const askTogether = (count: number) => Promise.all(Array.from({ length: count }, ask));

  it('/readyz pings MongoDB at most once a second, and notices the end of an outage', async () => {
    const startedAt = performance.now();
    command = () => Promise.reject(new Error('away'));
    expect(new Set(await askTogether(20))).to.deep.equal(new Set([503]));
    command = () => Promise.resolve({ ok: 1 });
    await until(async () => (await ask()) === 200);
    expect(pings).to.be.within(2, 1 + (performance.now() - startedAt) / 1_000);
  });

  it('concurrent requests to /readyz share one ping', async () => {
    let answer = () => {};
    command = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    const asked = askTogether(20);
    await until(async () => pings > 0);
    answer();
    expect(new Set(await asked)).to.deep.equal(new Set([200]));
    expect(pings).to.equal(1);
  });
});
