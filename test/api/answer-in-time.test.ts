import { expect } from 'chai';
import compose from 'koa-compose';
import { createApp } from '../../api/app.ts';
import { answerInTime } from '../../api/http/answer-in-time.ts';
import { serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/types.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { call, validRide } from '../support/client.ts';
import { startTestApi, type TestApi } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('the time limit of an answer', () => {
  let api: TestApi;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.close());

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

  it('sends its own 503 whole, whatever the handler writes in that moment', async () => {
    let letHandlerGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letHandlerGo = resolve;
    });
    // The 503 is logged just before it is sent.
    const log = Object.assign(Object.create(api.ctx.log), { error: () => letHandlerGo() });
    const part = testPart({
      handle: compose<RequestContext>([
        (ctx, next) => {
          // As if it had come long ago.
          ctx.state.startedAt = performance.now() - 10_000;
          return next();
        },
        answerInTime,
        async (ctx) => {
          await gate;
          ctx.status = 201;
          ctx.set('X-Late', 'yes');
          ctx.body = { rideId: 'ride_1' };
        },
      ]),
    });
    const server = await serve(api.ctx, createApp({ ...api.ctx, log }, [part]));
    const { status, body, headers } = await call(`http://127.0.0.1:${server.port}/test`);
    await server.close();
    expect(status).to.equal(503);
    expect(body).to.have.all.keys('error');
    expect(headers.get('x-late')).to.equal(null);
  });
});
