import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import type { Part } from '../../api/part.ts';
import { AppError } from '../../shared/base/errors.ts';
import { testConfig, useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';
import { useStarted } from '../support/use-started.ts';

const secret = 'sEcReT-detail';

/** A part with its own security policy and with errors as HTML. */
const pages: Part = testPart({
  headers: new Map([['Content-Security-Policy', "default-src 'self'"]]),
  renderError: ({ status, message }) => `<h1>${status}</h1><p>${message}</p>`,
  handle: async (ctx, next) => {
    if (ctx.path === '/test/refused') throw new AppError('ride_not_found', { headers: { 'X-Why': 'gone' } });
    if (ctx.path === '/test/broken') throw new Error(secret);
    if (ctx.path === '/test/typed') {
      ctx.type = 'text/event-stream';
      ctx.respond = false;
      throw new AppError('unavailable');
    }
    if (ctx.path === '/test/begun') {
      ctx.respond = false;
      ctx.res.writeHead(200, { 'Content-Length': 100 });
      ctx.res.write('begun');
      throw new Error(secret);
    }
    const [, status] = /^\/test\/status\/(\d+)$/.exec(ctx.path) ?? [];
    if (status) ctx.status = Number(status);
    else if (ctx.path !== '/test') return next();
    ctx.body = '<h1>Test</h1>';
  },
});

describe('parts of the API', () => {
  const ctx = useTestContext();
  let closed = 0;
  const close = async () => {
    closed += 1;
  };
  const server = useStarted(() => serve(ctx, createApp(ctx, [{ ...pages, close }])));
  after(() => expect(closed).to.equal(1));

  const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

  it("every answer of a part has the part's headers and a request id", async () => {
    for (const path of ['/test', '/test/refused', '/test/broken', '/test/nothing']) {
      const { headers } = await ask(path);
      expect(headers.get('content-security-policy')).to.equal("default-src 'self'");
      expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  for (const [hosts, settings, header] of [
    ['the host of the address only', {}, 'max-age=31536000'],
    ['its subdomains too, with HSTS=subdomains', { HSTS: 'subdomains' }, 'max-age=31536000; includeSubDomains'],
  ] as const) {
    it(`every answer has Strict-Transport-Security for ${hosts}`, async () => {
      const service = { ...ctx, config: testConfig(settings) };
      const own = await serve(service, createApp(service));
      for (const path of ['/', '/v1/rides', '/dashboard', '/docs', '/drive', '/healthz', '/nothing']) {
        const answer = await fetch(`http://127.0.0.1:${own.port}${path}`, { redirect: 'manual' });
        expect(answer.headers.get('strict-transport-security'), path).to.equal(header);
      }
      await own.close(1_000);
    });
  }

  for (const [path, status, text] of [
    ['/test/refused', 404, '<h1>404</h1><p>Ride not found</p>'],
    ['/test/nothing', 404, '<h1>404</h1><p>Not found</p>'],
    ['/test/broken', 500, '<h1>500</h1><p>Internal error: the request is safe to retry</p>'],
    ['/test/typed', 503, '<h1>503</h1><p>The service is temporarily unavailable: the request is safe to retry</p>'],
  ] as const) {
    it(`a part renders the ${status} of ${path} itself, only from the public text`, async () => {
      const answer = await ask(path);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(await answer.text()).to.equal(text);
    });
  }

  it('an answer has the status and headers of the thrown error', async () => {
    expect((await ask('/test/refused')).headers.get('x-why')).to.equal('gone');
    expect((await ask('/test/typed')).headers.get('retry-after')).to.equal('1');
  });

  it('every error answer of a part has a code: that of the thrown error, or else that of the status', async () => {
    const codes: [path: string, code: string][] = [
      ['refused', 'ride_not_found'],
      ['nothing', 'not_found'],
      ['broken', 'internal'],
      ['typed', 'unavailable'],
      ['status/422', 'invalid_request'],
      ['status/429', 'rate_limited'],
      ['status/403', 'forbidden'],
    ];
    for (const [path, code] of codes) {
      expect((await ask(`/test/${path}`)).headers.get('x-service-error'), path).to.equal(code);
    }
    expect((await ask('/test')).headers.get('x-service-error')).to.equal(null);
  });

  it('a part does not affect paths that it does not own', async () => {
    for (const [path, status] of [
      ['/tests', 404],
      ['/v1', 401],
      ['/v1/test', 401],
    ] as const) {
      const answer = await ask(path);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none';frame-ancestors 'none'");
      expect(await answer.json()).to.have.all.keys('error');
    }
  });

  it('an answer that fails halfway is never complete, and the next request is served', async () => {
    const failure = await ask('/test/begun')
      .then((answer) => answer.text())
      .then(
        () => 'complete',
        () => 'incomplete',
      );
    expect(failure).to.equal('incomplete');
    expect((await ask('/test')).status).to.equal(200);
  });
});
