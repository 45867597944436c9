import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type HttpServer, serve } from '../../api/http/serve.ts';
import type { RequestContext } from '../../api/part.ts';
import { createStreams, eventText, type Stream, type Streams } from '../../api/streams/streams.ts';
import { call } from '../support/client.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('streams of pages', () => {
  const ctx = useTestContext();
  let server: HttpServer;
  let stopped: Promise<void> | undefined;
  let streams: Streams;
  let opened: { stream: Stream; closed: Promise<void> }[];
  let logged: { route?: string; status?: number }[];
  /** Called before the stream opens, at the time when a page reads its ride. */
  let beforeOpen: (requestCtx: RequestContext) => Promise<void>;

  beforeEach(async () => {
    streams = createStreams({ all: 10, perClient: 10, client: 'client' }, 10);
    opened = [];
    logged = [];
    stopped = undefined;
    beforeOpen = async () => {};
    const part = testPart({
      async handle(requestCtx) {
        requestCtx.state.route = requestCtx.path;
        // The server closes any connection that is silent for 14 s. No test may pass because of that.
        requestCtx.req.socket.setTimeout(0);
        await beforeOpen(requestCtx);
        const stream = streams.open(requestCtx, 'client');
        opened.push({ stream, closed: new Promise((resolve) => stream.onClose(resolve)) });
        stream.send(eventText(1, 'first'));
      },
      endHeld: () => streams.endAll(),
    });
    const log = Object.assign(Object.create(ctx.log), { info: (line: object) => logged.push(line) });
    server = await serve(ctx, createApp({ ...ctx, log }, [part]));
  });
  afterEach(async () => {
    await stop();
    streams.close();
  });

  const stop = (): Promise<void> => {
    stopped ??= server.close();
    return stopped;
  };

  const get = (options: http.RequestOptions = {}) =>
    http.request({ port: server.port, host: '127.0.0.1', path: '/test', agent: false, ...options }).end();
  const lastOpened = () => opened.at(-1) as (typeof opened)[number];

  async function open() {
    const request = get().on('error', () => {});
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    const [text] = await once(response.setEncoding('utf8'), 'data');
    expect(text).to.equal(eventText(1, 'first'));
    return { request, response, ...lastOpened() };
  }

  /**
   * Opens a stream over a bare socket: after a test with nock in this process, Node's client keeps reading a paused
   * response.
   */
  async function openRaw() {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {}).write('GET /test HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = '';
    while (!received.includes('first')) received += (await once(socket, 'data'))[0];
    return { socket, ...lastOpened() };
  }

  it('a stream sends headers and text immediately, is logged at its start, and blocks no other requests', async () => {
    const { response } = await open();
    expect(response.headers['content-type']).to.match(/^text\/event-stream/);
    expect(response.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(logged.map(({ route, status }) => [route, status])).to.deep.equal([['/test', 200]]);
    expect((await call(`http://127.0.0.1:${server.port}/healthz`)).status).to.equal(200);
  });

  it('shutdown ends open streams completely, without waiting for their clients', async () => {
    const all = [];
    for (let count = 0; count < 10; count++) all.push(await open());
    const ends = all.map(({ response }) => once(response.resume(), 'end'));
    const closed = stop();
    // Sends again, because a timer of the part could still do that after the shutdown.
    for (const { stream } of all) stream.send(eventText(2, 'late'));
    await Promise.all([closed, ...ends]);
    // The streams have ended properly; their connections were not cut.
    expect(new Set(all.map(({ response }) => response.complete))).to.deep.equal(new Set([true]));
  });

  it('a stream that opens during shutdown ends immediately', async () => {
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const hasArrived = new Promise<void>((resolve) => {
      beforeOpen = () => {
        resolve();
        return gate;
      };
    });
    const answered = once(get(), 'response') as Promise<[IncomingMessage]>;
    await hasArrived;
    const closed = stop();
    letGo();
    const [response] = await answered;
    await once(response.resume(), 'end');
    expect(response.complete).to.equal(true);
    await closed;
  });

  it('shutdown cuts the stream of a client that does not read', async () => {
    const { socket, stream, closed } = await openRaw();
    socket.pause();
    // The text is larger than the buffers of a connection.
    stream.send('x'.repeat(32_000_000));
    await Promise.all([closed, stop()]);
    socket.destroy();
  });

  it('a stream ends when its client closes its side or disconnects', async () => {
    const [gone, halfClosed] = [await open(), await openRaw()];
    gone.request.destroy();
    halfClosed.socket.end();
    await Promise.all([gone.closed, halfClosed.closed]);
    expect(streams.count).to.equal(0);
  });

  it('HEAD of a stream gets only its headers', async () => {
    const [response] = (await once(get({ method: 'HEAD' }), 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    expect(response.statusCode).to.equal(200);
    await lastOpened().closed;
    expect(streams.count).to.equal(0);
  });

  it('a stream with more than 64 kB of unread data ends, and the other streams continue', async () => {
    const [reading, stalled] = [await open(), await openRaw()];
    stalled.socket.pause();
    expect(streams.count).to.equal(2);

    let isClosed = false;
    void stalled.closed.then(() => {
      isClosed = true;
    });
    // The operating system buffers some megabytes for a client that does not read, before data queues up here.
    const text = eventText(2, 'x'.repeat(60_000));
    while (!isClosed) {
      stalled.stream.send(text);
      await nextTurn();
    }

    stalled.socket.destroy();
    expect(streams.count).to.equal(1);
    reading.stream.send(eventText(3, 'still here'));
    expect((await once(reading.response, 'data'))[0]).to.equal(eventText(3, 'still here'));
  });

  it('a stream does not count if its client resets the connection before the stream begins', async () => {
    for (let count = 1; count <= 3; count++) {
      const socket = net.connect({ port: server.port, host: '127.0.0.1' });
      beforeOpen = async ({ res }) => {
        socket.resetAndDestroy();
        await once(res, 'close');
      };
      socket.on('error', () => {}).write('GET /test HTTP/1.1\r\nHost: x\r\n\r\n');
      while (opened.length < count) await nextTurn();
      await lastOpened().closed;
    }
    expect(streams.count).to.equal(0);
    beforeOpen = async () => {};
    for (let count = 0; count < 10; count++) expect((await open()).response.statusCode).to.equal(200);
  });

  it('a stream beyond the limit answers 429, and is accepted once another one has ended', async () => {
    const all = [];
    for (let count = 0; count < 10; count++) all.push(await open());
    const [refused] = (await once(get(), 'response')) as [IncomingMessage];
    expect(refused.statusCode).to.equal(429);
    expect(Number(refused.headers['retry-after'])).to.be.at.least(1);
    refused.resume();

    all[0]?.stream.end();
    await all[0]?.closed;
    expect((await open()).response.statusCode).to.equal(200);
  });
});
