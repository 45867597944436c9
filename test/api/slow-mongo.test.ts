import { expect } from 'chai';
import { createApp, listenerOf, operatorsParts } from '../../api/app.ts';
import { type HttpServer, serve } from '../../api/http/serve.ts';
import type { Part, RouteName } from '../../api/part.ts';
import type { Context } from '../../shared/base/context.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { driverSessions } from '../../shared/drivers/driver.ts';
import { validRide } from '../support/client.ts';
import { newFormId, signedIn } from '../support/dashboard.ts';
import { newGatewayDriver } from '../support/drivers.ts';
import { scaled } from '../support/machine-speed.ts';
import { type MongoProxy, startMongoProxy } from '../support/mongo-proxy.ts';
import { startTestApi, testContext } from '../support/service.ts';

/**
 * This limit only ends a hang. It is long, because many requests run at once, each waits 3 s for MongoDB, and the
 * machine is busy.
 */
const patience = () => AbortSignal.timeout(scaled(60_000));
const opsToken = 'a-token-of-operators-1';

/** Parts that read from MongoDB before they answer any request with a key or a session. */
const needsMongo = ['partner', 'drivers', 'drive-data'];

describe('API with a MongoDB that answers after 3 s', () => {
  let proxy: MongoProxy;
  let ctx: Context;
  let parts: readonly Part[];
  let api: HttpServer;
  let ops: HttpServer;
  let signedInHeaders: (part: Part) => Record<string, string>;

  before(async () => {
    const direct = await startTestApi();
    const { cookie } = await signedIn(direct);
    const partner = await direct.key();
    const driver = await newGatewayDriver(direct);
    const session = { driverId: driver.driverId, keyHash: sha256(driver.key) };
    const cookies = `${cookie}; driver_session=${await driverSessions.start(session, direct.ctx.now())}`;
    const operator = await operatorsCookieOf(direct.ctx);
    await direct.close();
    signedInHeaders = ({ name }) => ({
      cookie: `${cookies}; ${operator}`,
      authorization: `Bearer ${name === 'drivers' ? driver.key : partner.key}`,
    });

    proxy = await startMongoProxy(process.env.TEST_RUN_MONGO_URL ?? '');
    ctx = await testContext({ MONGO_URL: proxy.url, OPS_TOKEN: opsToken }, { timeLimits: true });
    const app = createApp(ctx);
    const pages = await operatorsParts(ctx);
    parts = [...app.parts, ...pages];
    api = await serve(ctx, app);
    ops = await serve(ctx, { callback: () => listenerOf(ctx, pages) });
    proxy.delayAnswers(3_000);
  });
  after(async () => {
    proxy.delayAnswers(0);
    await ops.close();
    await api.close();
    await ctx.close();
    await proxy.close();
  });

  const isOperators = ({ name }: Part) => name === 'queue board' || name === 'operators';
  const send = async (part: Part, { method, path }: RouteName, headers: Record<string, string> = {}) => {
    const { port } = isOperators(part) ? ops : api;
    const isForm = ['dashboard', 'drive', 'operators'].includes(part.name);
    const body = isForm ? new URLSearchParams({ formId: newFormId() }) : JSON.stringify(validRide);
    const answer = await fetch(`http://127.0.0.1:${port}${path.replace(':month', '2026-11').replace(/:\w+/g, id)}`, {
      method,
      redirect: 'manual',
      signal: patience(),
      headers: { 'sec-fetch-site': 'same-origin', ...(!isForm && { 'content-type': 'application/json' }), ...headers },
      ...(method !== 'GET' && method !== 'DELETE' && { body }),
    });
    await answer.text();
    return { route: `${method} ${path}`, part: part.name, status: answer.status };
  };
  /** Sends a request to every route, 40 at a time: a busy machine could not answer all of them within the limits. */
  const sendAll = async (headersOf?: (part: Part) => Record<string, string>) => {
    const all = parts.flatMap((part) => part.routes().map((route) => ({ part, route })));
    const answers: Awaited<ReturnType<typeof send>>[] = [];
    while (all.length > 0) {
      const some = all.splice(0, 40).map(({ part, route }) => send(part, route, headersOf?.(part)));
      answers.push(...(await Promise.all(some)));
    }
    return answers;
  };

  // An exception that would crash a process of the service fails this test, because Mocha catches it.
  it('slow MongoDB: every route answers requests without a key or session, and none crashes the process', async () => {
    const answers = await sendAll();
    expect(answers.map(({ part }) => part)).to.include.members(parts.map(({ name }) => name));
    expect(answers.filter(({ status }) => status === 500)).to.deep.equal([]);
  });

  it('slow MongoDB: requests with a key or session get a 503 in time, and no route crashes the process', async () => {
    const answers = await sendAll(signedInHeaders);
    expect(answers.filter(({ status }) => status === 500)).to.deep.equal([]);
    for (const { part, status, route } of answers) if (needsMongo.includes(part)) expect(status, route).to.equal(503);
    expect(answers.find(({ route }) => route === 'GET /dashboard/')?.status).to.equal(503);
  });
});

/** An id with the form of a track token, which matches nothing that exists. */
const id = 'a'.repeat(22);

async function operatorsCookieOf(service: Context): Promise<string> {
  const { config } = service;
  const pages = await operatorsParts({ ...service, config: { ...config, secrets: { ...config.secrets, opsToken } } });
  const server = await serve(service, { callback: () => listenerOf(service, pages) });
  const answer = await fetch(`http://127.0.0.1:${server.port}/ops`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token: opsToken }),
  });
  await server.close();
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
