import { expect } from 'chai';
import { hrefsIn, textOf } from '../support/pages.ts';
import { useTestApi } from '../support/service.ts';

/** The Accept header of a browser that opens a page. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
/** Accept headers that do not prefer HTML to JSON. */
const others = ['*/*', 'application/json', 'application/json, text/html;q=0.9', 'text/plain', 'image/png', '', 'x'];
const parts = ['/dashboard', '/docs', '/drive'];

describe('the front door and unknown addresses', () => {
  const api = useTestApi();

  const ask = async (path: string, accept: string, init: RequestInit = {}) => {
    const answer = await fetch(api.url + path, { redirect: 'manual', ...init, headers: { accept, ...init.headers } });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const isPage = ({ headers }: { headers: Headers }) => headers.get('content-type') === 'text/html; charset=utf-8';

  it('/ says what this is and leads to the dashboard, the docs and the driver’s page', async () => {
    const front = await ask('/', browser);
    expect(front.status).to.equal(200);
    expect(isPage(front)).to.equal(true);
    expect(hrefsIn(front.text)).to.deep.equal(parts);
    expect(textOf(front.text)).to.include('Propose a fare over an API').and.include('Sign in');
    expect(front.headers.get('content-security-policy')).to.include("script-src 'self'");
    expect(front.headers.get('vary')).to.include('Accept');
    for (const path of parts) expect((await ask(path, browser)).status, path).to.equal(200);
  });

  it('an unknown address is a page with navigation, with any method', async () => {
    for (const path of ['/nothing', '/v2', '/v1x/rides', '/api', '/api/v2/rides', '/rides', '/docs/nothing']) {
      const answer = await ask(path, browser);
      expect(answer.status, path).to.equal(404);
      expect(isPage(answer), path).to.equal(true);
      expect(answer.headers.get('x-service-error')).to.equal('not_found');
      expect(textOf(answer.text))
        .to.include('Page not found')
        .and.include(answer.headers.get('x-request-id') ?? '-');
      expect(hrefsIn(answer.text)).to.deep.equal(['/', ...parts]);
    }
    expect(isPage(await ask('/nothing', browser, { method: 'POST' }))).to.equal(true);
    const { status, headers } = await ask('/', browser, { method: 'POST' });
    expect([status, headers.get('allow')]).to.deep.equal([405, 'HEAD, GET']);
  });

  it('an unknown address is JSON for a request that does not prefer HTML', async () => {
    for (const path of ['/', '/nothing', '/v2', '/v1x', '/v1x/rides', '/api', '/api/v2/rides', '/rides']) {
      for (const accept of others) {
        const answer = await ask(path, accept);
        expect(answer.status, `${path} ${accept}`).to.equal(404);
        expect(JSON.parse(answer.text)).to.deep.equal({ error: 'Not found' });
        expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none';frame-ancestors 'none'");
        expect(answer.headers.get('vary')).to.include('Accept');
      }
    }
  });

  it('below the bases of the APIs, every error is JSON, also for a browser', async () => {
    const { key } = await api.key();
    for (const base of ['/v1', '/api/v1', '/drivers/v1', '/drive/api']) {
      for (const path of ['', '/', '/nothing', '/rides/x']) {
        for (const given of [{}, { 'x-api-key': key }] as Record<string, string>[]) {
          const { status, text, headers } = await ask(base + path, browser, { headers: given });
          expect(headers.get('content-type'), base + path).to.match(/^application\/json/);
          if (status >= 400) expect(JSON.parse(text)).to.have.all.keys('error');
        }
      }
    }
  });

  it('/favicon.ico is the icon of the pages', async () => {
    const { status, headers, text } = await ask('/favicon.ico', 'image/avif,image/webp,*/*');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^image\/svg\+xml/);
    expect(headers.get('cache-control')).to.equal('public, max-age=86400');
    expect(text).to.match(/^<svg /);
  });
});

describe('the front door in production', () => {
  const api = useTestApi({ SERVICE_ENV: 'production', TRUSTED_PROXY_HOPS: '1' });

  it('redirects a browser to HTTPS', async () => {
    const answer = await fetch(`${api.url}/`, { redirect: 'manual', headers: { accept: browser } });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([308, 'https://rides.example/']);
  });
});
