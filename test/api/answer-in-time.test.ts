import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/part.ts';
import { createStreams } from '../../api/streams/streams.ts';
import { KeyModel, keys } from '../../shared/keys/api-key.ts';
import { call } from '../support/client.ts';
import { signedIn } from '../support/dashboard.ts';
import { useTestApi } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('time limit of requests', () => {
  const api = useTestApi();

  it('a timeout sends only one 503 and does not crash the process when two routes handle the request', async () => {
    const { get } = await signedIn(api);
    const never = () => new Promise<never>(() => {});
    /** A query that has every method and never resolves. */
    const query: object = new Proxy(
      {},
      { get: (_, name) => (['toArray', 'lean'].includes(String(name)) ? never : () => query) },
    );
    const { find } = KeyModel;
    const { find: findKeys } = keys;
    // Two routes handle this request, because sign-in and the overview share the address `/dashboard`. Mocha fails the
    // test if an exception is uncaught.
    Object.assign(KeyModel, { find: () => query });
    Object.assign(keys, { find: () => query });
    try {
      const { status, html } = await get('/dashboard');
      expect(status).to.equal(503);
      expect(html).to.include('</html>');
    } finally {
      Object.assign(KeyModel, { find });
      Object.assign(keys, { find: findKeys });
    }
  });

  /** Sends a request whose time limit has passed, and whose handler resumes while the 503 is being sent. */
  async function answerLate(finish: (ctx: RequestContext) => void) {
    let letHandlerGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letHandlerGo = resolve;
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // The log entry of the 503 is written just before the 503 is sent, so the handler resumes at that moment.
    const log = Object.assign(Object.create(api.ctx.log), { error: () => letHandlerGo() });
    const part = testPart({
      async handle(ctx) {
        // As if the request had arrived 10 s ago.
        ctx.state.startedAt = performance.now() - 10_000;
        await gate;
        try {
          finish(ctx);
        } finally {
          end();
        }
      },
    });
    const server = await serve(api.ctx, createApp({ ...api.ctx, log }, [part]));
    const answer = await call(`http://127.0.0.1:${server.port}/test`, { redirect: 'manual' });
    await ended;
    await server.close();
    return answer;
  }

  for (const [what, finish] of Object.entries<(ctx: RequestContext) => void>({
    'sends another answer': (ctx) => {
      ctx.status = 201;
      ctx.set('X-Late', 'yes');
      ctx.body = { rideId: 'ride_1' };
    },
    'sends a page': (ctx) => {
      ctx.type = 'html';
      ctx.response.body = '<h1>Late</h1>';
    },
    redirects: (ctx) => ctx.redirect('/elsewhere'),
    'answers without Koa': (ctx) => {
      ctx.respond = false;
      ctx.res.writeHead(200, { 'X-Late': 'yes' }).end('late');
    },
  })) {
    it(`a timeout sends a complete 503 even if the handler ${what} at the same moment`, async () => {
      const { status, body, headers } = await answerLate(finish);
      expect(status).to.equal(503);
      expect(body).to.have.all.keys('error');
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      for (const name of ['x-late', 'location']) expect(headers.get(name)).to.equal(null);
    });
  }

  it('a handler cannot open a stream after the 503 was sent', async () => {
    const streams = createStreams({ all: 10, perClient: 10, client: 'client' });
    const { status } = await answerLate((ctx) => void streams.open(ctx, 'client'));
    expect(status).to.equal(503);
    expect(streams.count).to.equal(0);
    streams.close();
  });
});
