import net from 'node:net';
import { expect } from 'chai';
import { call } from '../support/client.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { useTestApi } from '../support/service.ts';

describe('malformed HTTP', () => {
  const api = useTestApi();
  let key: string;

  before(async () => {
    key = (await api.key()).key;
  });

  afterEach(async () => {
    expect((await call(`${api.url}/healthz`)).status).to.equal(200);
  });

  type Refusal = [title: string, status: number, text: () => string];
  const refusals: Refusal[] = [
    ['text that is not HTTP', 400, () => 'hello\r\n\r\n'],
    ['TLS on the plain port', 400, () => '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ['an unknown method', 400, () => 'FETCH /v1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no path', 400, () => 'GET  HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a path with a raw space', 400, () => 'GET /v1/rides/a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an unknown version', 400, () => 'GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['no Host', 400, () => 'GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Host lines', 400, () => 'GET /v1 HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n'],
    [
      'the same Host twice',
      400,
      () => 'GET /v1 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nhost: x\r\nConnection: close\r\n\r\n',
    ],
    ['two Host lines in HTTP/1.0', 400, () => 'GET /v1 HTTP/1.0\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ...['a b', 'a/b', 'user@x', 'x:y', 'x:1:2', '[::1', '[::g]', '[x]', 'ü', '%zz', 'x\ty', 'http://x', '"x"'].map(
      (host): Refusal => [
        `the Host ${host}`,
        400,
        () => `GET /v1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ],
    ),
    ['a header without a name', 400, () => 'GET /v1 HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n'],
    ['a control character in a header', 400, () => 'GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: \u0000\r\n\r\n'],
    ['a Content-Length that is not a number', 400, () => 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n'],
    [
      'two different Content-Lengths',
      400,
      () => 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    ],
    [
      'both Content-Length and Transfer-Encoding',
      400,
      () => 'POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['headers that are too large', 431, () => `GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path that is too large', 431, () => `GET /v1/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ];
  for (const [title, status, text] of refusals) {
    it(`a request with ${title} gets a ${status} in the contract's error form`, async () => {
      const answer = await rawRequest(api.url, Buffer.from(text(), 'latin1'));
      expect(answer.status).to.equal(status);
      expect(Object.keys(answer.body)).to.deep.equal(['error']);
      expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
      expect(answer.headers['x-service-error']).to.equal(status === 431 ? 'headers_too_large' : 'invalid_request');
    });
  }

  for (const host of ['', 'x:4100', 'RIDES.example.', '10.0.0.1:4100', '[::1]', '[2001:db8::1]:4100', 'a_b-c', '%41']) {
    it(`the Host "${host}" is accepted`, async () => {
      const lines = ['GET /v1 HTTP/1.1', `Host: ${host}`, `X-Api-Key: ${key}`, 'Connection: close'];
      expect((await rawRequest(api.url, requestText(lines))).status).to.equal(200);
    });
  }

  for (const target of [
    ...['*', 'http://x/v1', 'http://[/v1', 'http://x:99999999/v1', 'http://%zz/v1', 'http:///v1', 'https://a:b@c/v1'],
    ...['http://x:-1/v1', '//[/v1', '/\\x', '/v1/rides/%', '/v1?%', '/v1#x', '///', '/%2e%2e/%2e%2e/v1', '/v1/../v1'],
    'javascript:alert(1)',
  ]) {
    it(`the request target ${target} gets JSON and no 5xx`, async () => {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const lines = [`${method} ${target} HTTP/1.1`, 'Host: x', `X-Api-Key: ${key}`, 'Connection: close'];
        const answer = await rawRequest(api.url, requestText(lines));
        expect(answer.status, `${method} ${target}`).to.be.within(200, 499);
        expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
        if (answer.status >= 400) expect(Object.keys(answer.body)).to.deep.equal(['error']);
      }
    });
  }

  for (const expectation of ['100-continue', 'nonsense']) {
    it(`the header Expect: ${expectation} is ignored`, async () => {
      const lines = ['GET /v1 HTTP/1.1', 'Host: x', `X-Api-Key: ${key}`, `Expect: ${expectation}`, 'Connection: close'];
      const answer = await rawRequest(api.url, requestText(lines));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ version: 'v1' });
    });
  }

  const healthStatus = async () => {
    const health = requestText(['GET /healthz HTTP/1.1', 'Host: x', 'Connection: close']);
    return (await rawRequest(api.url, health)).status;
  };

  for (const lines of [
    ['CONNECT rides.example:443 HTTP/1.1', 'Host: x'],
    ['GET /v1 HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'],
    ['PRI * HTTP/2.0', 'Host: x'],
  ]) {
    it(`the server still serves requests after ${lines[0]} (${lines[3] ?? 'no upgrade'})`, async () => {
      const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1');
      const gone = new Promise((resolve) => socket.on('close', resolve));
      socket.on('error', () => {});
      socket.end(requestText(lines));
      socket.resume();
      await gone;
      expect(await healthStatus()).to.equal(200);
    });
  }

  it('the server still serves requests after a client disconnects in the middle of its body', async () => {
    const lines = [
      'POST /v1/rides HTTP/1.1',
      'Host: x',
      `X-Api-Key: ${key}`,
      'Content-Type: application/json',
      'Content-Length: 900',
    ];
    const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1');
    const gone = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    socket.write(requestText(lines, '{"fare":'), () => socket.destroy());
    await gone;
    expect(await healthStatus()).to.equal(200);
  });

  it('an HTTP/1.0 request without a Host is answered', async () => {
    const answer = await rawRequest(api.url, requestText(['GET /v1 HTTP/1.0', `X-Api-Key: ${key}`]));
    expect(answer.status).to.equal(200);
  });
});
