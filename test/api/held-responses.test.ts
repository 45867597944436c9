import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import net from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { HeldResponses } from '../../api/http/held-responses.ts';
import { type Serving, serve } from '../../api/http/serve.ts';
import type { Part } from '../../api/part.ts';
import { call } from '../support/client.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('a response that is held open', function () {
  // Less than the 14 s after which the server closes any silent connection.
  this.timeout(10_000);

  const ctx = useTestContext();
  let server: Serving;
  let held: HeldResponses;
  let streams: ServerResponse[];
  let logged: { route?: string; status?: number }[];
  /** The stream of /test/late opens when this resolves. */
  let gate: Promise<void>;

  const part = (): Part =>
    testPart({
      async handle(requestCtx) {
        if (requestCtx.path === '/test/late') {
          streams.push(requestCtx.res);
          await gate;
        }
        requestCtx.state.route = requestCtx.path;
        requestCtx.type = 'text/event-stream';
        const stream = held.hold(requestCtx);
        stream.write('data: first\n\n');
        streams.push(stream);
      },
      endHeld: () => held.endAll(),
    });

  beforeEach(async () => {
    held = new HeldResponses(10);
    streams = [];
    logged = [];
    const log = Object.assign(Object.create(ctx.log), { info: (line: object) => logged.push(line) });
    server = await serve(ctx, createApp({ ...ctx, log }, [part()]));
  });

  const get = (path: string, options: http.RequestOptions = {}) =>
    http.request({ port: server.port, host: '127.0.0.1', path, agent: false, ...options }).end();

  async function open(): Promise<{ request: http.ClientRequest; response: http.IncomingMessage }> {
    const request = get('/test');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return { request, response };
  }

  /** Opens a stream over a bare socket, and resolves when its first event has arrived. */
  async function openRaw(): Promise<net.Socket> {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {}).write('GET /test HTTP/1.1\r\nHost: x\r\n\r\n');
    let received = '';
    while (!received.includes('first')) received += (await once(socket, 'data'))[0];
    return socket;
  }

  it('sends its headers and what is written at once, is logged when it opens, and lets other requests through', async () => {
    const { response } = await open();
    const [text] = await once(response.setEncoding('utf8'), 'data');
    expect(text).to.equal('data: first\n\n');
    expect(response.headers['content-type']).to.match(/^text\/event-stream/);
    expect(response.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(logged.map(({ route, status }) => [route, status])).to.deep.equal([['/test', 200]]);
    expect((await call(`http://127.0.0.1:${server.port}/healthz`)).status).to.equal(200);
    await server.close();
  });

  it('is ended at a stop, which does not wait for it', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, open));
    const ends = opened.map(({ response }) => once(response.resume(), 'end'));
    const closed = server.close();
    // As a timer of the part might still do.
    for (const stream of streams) stream.write('data: late\n\n');
    await Promise.all([closed, ...ends]);
    // Ended in order, not cut off.
    expect(new Set(opened.map(({ response }) => response.complete))).to.deep.equal(new Set([true]));
  });

  it('is ended at once where it opens during a stop', async () => {
    let letGo = () => {};
    gate = new Promise((resolve) => {
      letGo = resolve;
    });
    const request = get('/test/late');
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
    while (streams.length === 0) await new Promise(setImmediate);
    const closed = server.close();
    letGo();
    const [response] = await answered;
    await once(response.resume(), 'end');
    expect(response.complete).to.equal(true);
    await closed;
  });

  it('is cut off at a stop where its client does not read', async () => {
    const socket = await openRaw();
    socket.pause();
    const [stream] = streams as [ServerResponse];
    // More than the buffers of a connection hold.
    stream.write(Buffer.alloc(32_000_000));
    await Promise.all([once(stream, 'close'), server.close()]);
    socket.destroy();
  });

  it('ends when its client closes its side, or is gone', async () => {
    const [{ request }, socket] = [await open(), await openRaw()];
    const [first, second] = streams as [ServerResponse, ServerResponse];
    const closes = [once(first, 'close'), once(second, 'close')];
    request.on('error', () => {}).destroy();
    socket.end();
    await Promise.all(closes);
    expect(held.size).to.equal(0);
    await server.close();
  });

  it('is only its headers for HEAD', async () => {
    const [response] = (await once(get('/test', { method: 'HEAD' }), 'response')) as [http.IncomingMessage];
    await once(response.resume(), 'end');
    expect(response.statusCode).to.equal(200);
    expect(held.size).to.equal(0);
    await server.close();
  });
});
