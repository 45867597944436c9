import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type HttpServer, idleTimeoutMs, serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/part.ts';
import { type HeldRequest, HeldRequests } from '../../api/streams/held-requests.ts';
import { type PollTarget, waitingPolls } from '../../api/streams/waiting-polls.ts';
import { connectSubscriberRedis } from '../../shared/base/redis/redis.ts';
import { publishRideChange, subscribeToRideChanges } from '../../shared/base/wake.ts';
import { rides } from '../../shared/rides/ride.ts';
import { newRide } from '../support/rides.ts';
import { testContext, useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';
import { until } from '../support/until.ts';

/** Serves long polls. The path `ACCOUNT/KEY` waits for events of the key, `ACCOUNT/KEY/RIDE` for those of the ride. */
async function startPolls(most?: { perKey: number; perAccount: number }) {
  const ctx = await testContext();
  const wake = subscribeToRideChanges(connectSubscriberRedis(ctx.config.secrets.redisUrl, ctx.log));
  const polls = waitingPolls(ctx, wake, most);
  let asked = 0;
  const part = testPart({
    async handle(request) {
      const [, accountId = '', keyId = '', rideId] = request.path.slice(1).split('/');
      request.state.caller = { keyId, accountId, mode: 'test', limit: undefined };
      const awaited: PollTarget = rideId ? { keyId, rideId, afterSeq: 0 } : { keyId, after: null, readUntil: 0 };
      const waiting = polls.wait(request, awaited, 60_000);
      asked += 1;
      request.body = { mayHaveEvents: await waiting };
    },
    endHeld: () => polls.endAll(),
  });
  const server = await serve(ctx, createApp(ctx, [part]));
  return {
    ctx,
    /** Sends a long poll. Resolves as soon as it waits or is refused. */
    async send(path: string): Promise<{ answer: Promise<Response> }> {
      const before = asked;
      const answer = fetch(`http://127.0.0.1:${server.port}/test/${path}`);
      await until(async () => asked > before);
      return { answer };
    },
    endAll: () => polls.endAll(),
    async close() {
      await server.close();
      polls.close();
      wake.close();
      await ctx.close();
    },
  };
}

describe('limits of long polls', () => {
  it('long polls are limited per key and per account, and the 429 names the limit that was reached', async () => {
    const polls = await startPolls({ perKey: 2, perAccount: 3 });
    const waiting = [];
    for (const path of ['account/one', 'account/one']) waiting.push(await polls.send(path));
    const ofKey = await (await polls.send('account/one')).answer;
    waiting.push(await polls.send('account/other'));
    const ofAccount = await (await polls.send('account/other')).answer;
    waiting.push(await polls.send('another/third'));

    const refusal = 'Too many requests are waiting for events: at most';
    expect([ofKey.status, ofAccount.status]).to.deep.equal([429, 429]);
    expect(await ofKey.json()).to.deep.equal({ error: `${refusal} 2 for each key` });
    expect(await ofAccount.json()).to.deep.equal({ error: `${refusal} 3 for each account` });
    expect(ofAccount.headers.get('retry-after')).to.equal('5');
    polls.endAll();
    for (const { answer } of waiting) expect((await answer).status).to.equal(200);
    await polls.close();
  });

  it('answered long polls no longer count towards the limits', async () => {
    const polls = await startPolls({ perKey: 1, perAccount: 2 });
    const rideId = await newRide(polls.ctx);
    await rides.updateOne({ _id: rideId }, { $set: { seq: 1 } });
    for (let times = 0; times < 4; times++) {
      const { answer } = await polls.send(`account/key/${rideId}`);
      publishRideChange(polls.ctx, { _id: rideId, keyId: 'key' });
      expect(await (await answer).json()).to.deep.equal({ mayHaveEvents: true });
    }
    await polls.close();
  });
});

describe('held requests (long polls)', () => {
  const ctx = useTestContext();
  let server: HttpServer;
  let requests: HeldRequests;
  let waiting: Promise<{ request: RequestContext; held: HeldRequest }>;

  beforeEach(async () => {
    requests = new HeldRequests();
    let note: (held: Awaited<typeof waiting>) => void;
    waiting = new Promise((resolve) => {
      note = resolve;
    });
    const part = testPart({
      async handle(request) {
        const held = requests.hold(request, 60_000);
        note({ request, held });
        request.body = { isReleased: await held.over };
      },
      endHeld: () => requests.endAll(),
    });
    server = await serve(ctx, createApp(ctx, [part]));
  });
  afterEach(() => server.close());

  const send = () => http.get({ port: server.port, host: '127.0.0.1', path: '/test', agent: false });
  async function answerOf(request: http.ClientRequest) {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const [text] = await once(response, 'data');
    return { connection: response.headers.connection, body: JSON.parse(String(text)) };
  }

  it('the silence limit of a connection is longer while its request is held, and normal afterwards', async () => {
    const answer = answerOf(send());
    const { request, held } = await waiting;
    const { socket } = request.req;
    expect(socket.timeout).to.equal(60_000 + idleTimeoutMs);
    expect(request.state.waitsSince).to.be.a('number');
    held.release();
    await held.over;
    expect(socket.timeout).to.equal(idleTimeoutMs);
    expect((await answer).body).to.deep.equal({ isReleased: true });
    expect(requests.size).to.equal(0);
  });

  it('shutdown ends a held request and waits for its answer', async () => {
    const answer = answerOf(send());
    await waiting;
    const stopped = server.close();
    expect(await answer).to.deep.equal({ connection: 'close', body: { isReleased: false } });
    await stopped;
    server = await serve(ctx, createApp(ctx));
  });

  it('a held request ends when its client disconnects', async () => {
    const request = send().on('error', () => {});
    const { held } = await waiting;
    request.destroy();
    expect(await held.over).to.equal(false);
    expect(requests.size).to.equal(0);
  });
});
