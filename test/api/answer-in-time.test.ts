import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/part.ts';
import { createStreams } from '../../api/streams/streams.ts';
import { KeyModel, keys } from '../../shared/keys/api-key.ts';
import { call, validRide } from '../support/client.ts';
import { signedIn } from '../support/dashboard.ts';
import { useTestApi } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('the time limit of an answer', () => {
  const api = useTestApi();

  it('is a 503 on every route, also where the look-up of the key does not return', async () => {
    const { key } = await api.key();
    const never = { toArray: () => new Promise(() => {}) };
    const routes = [
      ['GET', ''],
      ['POST', '/rides'],
      ['GET', '/rides/ride_1'],
      ['GET', '/rides/ride_1/offers'],
      ['POST', '/rides/ride_1/accept'],
      ['POST', '/rides/ride_1/cancel'],
      ['GET', '/nothing'],
    ] as const;
    // Of this run's look-ups, which may come in one batch or in several, none returns.
    const { find, aggregate } = keys;
    Object.assign(keys, { find: () => never, aggregate: () => never });
    try {
      const answers = await Promise.all(
        routes.map(([method, path]) =>
          call(`${api.url}/v1${path}`, {
            method,
            headers: { 'x-api-key': key, 'content-type': 'application/json' },
            body: method === 'POST' ? JSON.stringify(validRide) : undefined,
          }),
        ),
      );
      for (const { status, body, headers } of answers) {
        expect(status).to.equal(503);
        expect(Object.keys(body)).to.deep.equal(['error']);
        expect(headers.get('retry-after')).to.equal('1');
      }
    } finally {
      Object.assign(keys, { find, aggregate });
    }
  });

  it('ends no process, and is one 503, where two routes answer one request', async () => {
    const { get } = await signedIn(api);
    const never = () => new Promise<never>(() => {});
    /** A query that can be narrowed in every way, and never answers. */
    const query: object = new Proxy(
      {},
      { get: (_, name) => (['toArray', 'lean'].includes(String(name)) ? never : () => query) },
    );
    const { find } = KeyModel;
    const { find: findKeys } = keys;
    // Signing in and the overview share the address `/dashboard`. Mocha fails a test during which an exception is not caught.
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

  /** A part whose request came long ago by the time its handler waits, and whose handler resumes while the 503 is made. */
  async function lateAnswer(finish: (ctx: RequestContext) => void) {
    let letHandlerGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letHandlerGo = resolve;
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // The 503 is logged just before it is sent.
    const log = Object.assign(Object.create(api.ctx.log), { error: () => letHandlerGo() });
    const part = testPart({
      async handle(ctx) {
        // As if it had come long ago.
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
    'another answer': (ctx) => {
      ctx.status = 201;
      ctx.set('X-Late', 'yes');
      ctx.body = { rideId: 'ride_1' };
    },
    'a page': (ctx) => {
      ctx.type = 'html';
      ctx.response.body = '<h1>Late</h1>';
    },
    'a redirect': (ctx) => ctx.redirect('/elsewhere'),
    'an answer past Koa': (ctx) => {
      ctx.respond = false;
      ctx.res.writeHead(200, { 'X-Late': 'yes' }).end('late');
    },
  })) {
    it(`is a 503 sent whole, also where the handler makes ${what} in that moment`, async () => {
      const { status, body, headers } = await lateAnswer(finish);
      expect(status).to.equal(503);
      expect(body).to.have.all.keys('error');
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      for (const name of ['x-late', 'location']) expect(headers.get(name)).to.equal(null);
    });
  }

  it('leaves no stream open that begins after its 503', async () => {
    const streams = createStreams({ all: 10, perClient: 10, client: 'client' });
    const { status } = await lateAnswer((ctx) => void streams.open(ctx, 'client'));
    expect(status).to.equal(503);
    expect(streams.count).to.equal(0);
    streams.close();
  });
});
