import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type HttpServer, idleTimeoutMs, serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/part.ts';
import { type HeldRequest, HeldRequests } from '../../api/streams/held-requests.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

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
