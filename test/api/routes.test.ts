import { expect } from 'chai';
import { partnerOperations } from '../../api/partner/routes.ts';
import { call } from '../support/client.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { useTestApi } from '../support/service.ts';

const bases = ['/v1', '/api/v1'];

/** Each route and its methods. */
const routes: [path: string, allowed: string[]][] = [
  ['', ['GET', 'HEAD']],
  ['/', ['GET', 'HEAD']],
  ['/rides', ['GET', 'HEAD', 'POST']],
  ['/rides/x', ['GET', 'HEAD', 'PATCH']],
  ['/rides/x/offers', ['GET', 'HEAD']],
  ['/rides/x/accept', ['POST']],
  ['/rides/x/cancel', ['POST']],
  ['/rides/x/events', ['GET', 'HEAD']],
  ['/rides/x/events/1/resend', ['POST']],
  ['/webhook-endpoints', ['GET', 'HEAD', 'POST']],
  ['/webhook-endpoints/x', ['DELETE']],
  ['/events', ['GET', 'HEAD']],
  ['/rides/x/fare', ['POST']],
  ['/fare-hint', ['GET', 'HEAD']],
  ['/webhook-sources', ['GET', 'HEAD']],
  ['/test/rides/x/offer', ['POST']],
  ['/test/rides/x/arrive', ['POST']],
];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const unknownPaths = [
  ...['/nothing', '/rides/x/y', '/rides/x/offers/y', '/rides/x/complete', '/test/rides/x/accept', '/test/rides/x'],
  ...['/keys', '/openapi.json', '/v1/rides'],
];

describe('routes', () => {
  const api = useTestApi();
  let key: string;

  before(async () => {
    key = (await api.key()).key;
  });

  const ask = (method: string, path: string, headers: Record<string, string> = { 'x-api-key': key }) =>
    call(api.url + path, { method, headers });

  for (const path of ['/v1', '/v1/', '/api/v1', '/api/v1/']) {
    it(`GET ${path} lists the five operations of the contract and the additional ones, and needs a key`, async () => {
      const { status, body, headers } = await ask('GET', path);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.match(/^application\/json/);
      expect(body).to.deep.equal({
        name: 'Ride Partner API',
        version: 'v1',
        docs: `${api.ctx.config.publicBaseUrl}/docs`,
        endpoints: [
          'POST /rides',
          'GET /rides/:rideId',
          'GET /rides/:rideId/offers',
          'POST /rides/:rideId/accept',
          'POST /rides/:rideId/cancel',
        ],
        additionalEndpoints: body.additionalEndpoints,
      });
      // Each operation of the document is listed once, with the name of each parameter.
      const listed = ['GET /', ...body.endpoints, ...body.additionalEndpoints];
      expect(listed).to.have.members(partnerOperations.map(({ method, path: of }) => `${method} ${of}`));
      expect((await ask('GET', path, {})).status).to.equal(401);
    });
  }

  for (const [path, fields] of [
    ['/healthz', ['status', 'version']],
    ['/readyz', ['status']],
  ] as const) {
    it(`GET ${path} needs no key`, async () => {
      const { status, body } = await ask('GET', path, {});
      expect(status).to.equal(200);
      expect(body).to.have.all.keys(...fields);
    });
  }

  for (const base of bases) {
    for (const [path, allowed] of routes) {
      it(`${base}${path} answers 405 with its methods to any other one, and 401 without a key`, async () => {
        for (const method of methods.filter((candidate) => !allowed.includes(candidate))) {
          const { status, headers } = await ask(method, base + path);
          expect(status, method).to.equal(405);
          expect(headers.get('allow')?.split(', ')).to.have.members(allowed);
          const anonymous = await ask(method, base + path, {});
          expect(anonymous.status).to.equal(401);
          expect(anonymous.headers.get('allow')).to.equal(null);
        }
      });
    }

    for (const path of unknownPaths) {
      it(`${base}${path} answers 404, and 401 without a key`, async () => {
        for (const method of ['GET', 'POST', 'DELETE']) {
          expect((await ask(method, base + path)).status).to.equal(404);
          expect((await ask(method, base + path, {})).status).to.equal(401);
        }
      });
    }
  }

  for (const method of ['TRACE', 'PROPFIND', 'LINK', 'M-SEARCH']) {
    it(`${method} answers 405 in JSON`, async () => {
      const lines = [`${method} /v1/rides HTTP/1.1`, 'Host: x', `X-Api-Key: ${key}`, 'Connection: close'];
      expect((await rawRequest(api.url, requestText(lines))).status).to.equal(405);
    });
  }

  it('unknown query parameters are ignored', async () => {
    expect((await ask('GET', '/v1?x=1&x=2&x[$gt]=')).status).to.equal(200);
    expect((await ask('GET', '/v1/rides/x?%E0%A4%A')).status).to.equal(404);
  });

  it('the API never redirects', async () => {
    for (const path of ['/v1', '/api/v1', '/v1/rides/', '/api/v1/rides/x/', '//v1', '/v1//rides']) {
      const response = await fetch(api.url + path, { redirect: 'manual', headers: { 'x-api-key': key } });
      expect(response.status).not.to.be.within(300, 399);
      expect(response.headers.get('location')).to.equal(null);
    }
  });
});
