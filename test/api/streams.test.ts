import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type Serving, serve } from '../../api/http/serve.ts';
import { createStreams, eventText, type Stream, type Streams } from '../../api/pages/streams.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('the stream of a page', () => {
  const ctx = useTestContext();
  let server: Serving;
  let streams: Streams;
  let reset: net.Socket | undefined;
  let opened: { stream: Stream; closed: Promise<void> }[];

  beforeEach(async () => {
    streams = createStreams({ all: 10, perClient: 10, client: 'client' });
    opened = [];
    const part = testPart({
      async handle(requestCtx) {
        // Here a page reads its ride, and its client may reset the connection meanwhile.
        if (requestCtx.path === '/test/reset') {
          reset?.resetAndDestroy();
          await once(requestCtx.res, 'close');
        }
        const stream = streams.open(requestCtx, 'client');
        opened.push({ stream, closed: new Promise((resolve) => stream.onClose(resolve)) });
        stream.send(eventText(1, 'first'));
      },
      endHeld: () => streams.endAll(),
    });
    server = await serve(ctx, createApp(ctx, [part]));
  });
  afterEach(async () => {
    await server.close();
    streams.close();
  });

  async function open(): Promise<{ response: IncomingMessage; stream: Stream; closed: Promise<void> }> {
    const request = http.get({ port: server.port, host: '127.0.0.1', path: '/test', agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    const [text] = await once(response.setEncoding('utf8'), 'data');
    expect(text).to.equal(eventText(1, 'first'));
    return { response, ...(opened.at(-1) as (typeof opened)[number]) };
  }

  /** Over a bare socket: after a test with nock in the same process, Node's client reads on though its response is paused. */
  async function openAndStall(): Promise<{ socket: net.Socket; stream: Stream; closed: Promise<void> }> {
    const socket = net.connect({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => {}).write('GET /test HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    return { socket, ...(opened.at(-1) as (typeof opened)[number]) };
  }

  it('is ended when its client leaves more than 64 kB unread, and no other stream is', async () => {
    const [reading, stalled] = [await open(), await openAndStall()];
    expect(streams.count).to.equal(2);

    let isClosed = false;
    void stalled.closed.then(() => {
      isClosed = true;
    });
    // The system takes some megabytes for a client that does not read, before anything waits here.
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

  it('is counted no longer when its client has reset the connection before it began', async () => {
    for (let count = 1; count <= 3; count++) {
      reset = net.connect({ port: server.port, host: '127.0.0.1' });
      reset.on('error', () => {}).write('GET /test/reset HTTP/1.1\r\nHost: x\r\n\r\n');
      while (opened.length < count) await nextTurn();
      await opened.at(-1)?.closed;
    }
    expect(streams.count).to.equal(0);
    for (let count = 0; count < 10; count++) expect((await open()).response.statusCode).to.equal(200);
  });

  it('is refused with 429 beyond the limit, and taken again when another has ended', async () => {
    const all = [];
    for (let count = 0; count < 10; count++) all.push(await open());
    const [refused] = (await once(
      http.get({ port: server.port, host: '127.0.0.1', path: '/test', agent: false }),
      'response',
    )) as [IncomingMessage];
    expect(refused.statusCode).to.equal(429);
    expect(Number(refused.headers['retry-after'])).to.be.at.least(1);
    refused.resume();

    all[0]?.stream.end();
    await all[0]?.closed;
    expect((await open()).response.statusCode).to.equal(200);
  });
});
