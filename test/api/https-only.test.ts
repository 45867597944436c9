import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { call, validRide } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

const production = { SERVICE_ENV: 'production', PUBLIC_BASE_URL: 'https://rides.example' };

/** The forwarding headers of a request, and for each number of trusted hops, whether it counts as HTTPS. */
const cases: [forwarded: Record<string, string>, isHttps: { 0: boolean; 1: boolean; 2: boolean }][] = [
  [{}, { 0: false, 1: false, 2: false }],
  [{ 'x-forwarded-proto': 'https' }, { 0: false, 1: true, 2: true }],
  [{ 'x-forwarded-proto': 'HTTPS' }, { 0: false, 1: true, 2: true }],
  [{ 'x-forwarded-proto': 'http' }, { 0: false, 1: false, 2: false }],
  [{ 'x-forwarded-proto': 'https, http' }, { 0: false, 1: false, 2: true }],
  [{ 'x-forwarded-proto': 'http, https' }, { 0: false, 1: true, 2: false }],
  [{ 'x-forwarded-proto': 'https, http, http' }, { 0: false, 1: false, 2: false }],
  [{ 'x-forwarded-proto': '' }, { 0: false, 1: false, 2: false }],
  [{ 'x-forwarded-proto': 'httpsx' }, { 0: false, 1: false, 2: false }],
  [
    { 'x-forwarded-ssl': 'on', 'x-url-scheme': 'https', forwarded: 'proto=https' },
    { 0: false, 1: false, 2: false },
  ],
];

for (const hops of [0, 1, 2] as const) {
  describe(`HTTPS in production, behind ${hops} trusted proxies`, () => {
    const api = useTestApi({ ...production, TRUSTED_PROXY_HOPS: String(hops) });
    let key: string;

    before(async () => {
      key = (await api.key()).key;
    });

    for (const [forwarded, isHttps] of cases) {
      it(`behind ${hops} trusted hops, a request with ${JSON.stringify(forwarded)} is ${isHttps[hops] ? 'served' : 'refused'}`, async () => {
        for (const base of ['/v1', '/api/v1']) {
          const { status, body, headers } = await call(api.url + base, { headers: { 'x-api-key': key, ...forwarded } });
          if (isHttps[hops]) expect(status).to.equal(200);
          else {
            expect(status).to.be.within(400, 499);
            expect(status).not.to.equal(401);
            expect(body.error).to.match(/HTTPS/);
            expect(headers.get('location')).to.equal(null);
          }
        }
      });
    }

    it(`behind ${hops} trusted hops, a creation over plain HTTP answers 403 and creates no ride`, async () => {
      const { keyId, key: own } = await api.key();
      const { status } = await call(`${api.url}/v1/rides`, {
        method: 'POST',
        headers: { 'x-api-key': own, 'content-type': 'application/json', 'x-forwarded-proto': 'http' },
        body: JSON.stringify(validRide),
      });
      expect(status).to.equal(403);
      expect(await rides.countDocuments({ keyId })).to.equal(0);
    });

    it(`behind ${hops} trusted hops, health checks are answered over plain HTTP`, async () => {
      expect((await call(`${api.url}/healthz`)).status).to.equal(200);
      expect((await call(`${api.url}/readyz`)).status).to.equal(200);
    });
  });
}

describe('HTTPS in development', () => {
  const api = useTestApi();

  it('the API serves plain HTTP in development', async () => {
    const { key } = await api.key();
    expect((await call(`${api.url}/v1`, { headers: { 'x-api-key': key } })).status).to.equal(200);
  });
});
