import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import type { NewKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import { call, validRide } from '../support/client.ts';
import { newKey } from '../support/deliveries.ts';
import { useTestContext } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';

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

describe('HTTPS in production', () => {
  const ctx = useTestContext(production);
  let key: NewKey;
  before(async () => {
    key = await newKey(ctx);
  });

  for (const hops of [0, 1, 2] as const) {
    describe(`behind ${hops} trusted proxies`, () => {
      const server = useStarted(() => {
        const service = { ...ctx, config: { ...ctx.config, trustedProxyHops: hops } };
        return serve(service, createApp(service));
      });
      const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
        call(`http://127.0.0.1:${server.port}${path}`, { headers: { 'x-api-key': key.key, ...headers }, ...init });

      for (const [forwarded, isHttps] of cases) {
        it(`behind ${hops} trusted hops, a request with ${JSON.stringify(forwarded)} is ${isHttps[hops] ? 'served' : 'refused'}`, async () => {
          for (const base of ['/v1', '/api/v1']) {
            const { status, body, headers } = await ask(base, forwarded);
            expect(status).to.equal(isHttps[hops] ? 200 : 403);
            if (!isHttps[hops]) expect(body.error).to.match(/HTTPS/);
            expect(headers.get('location')).to.equal(null);
          }
        });
      }

      it(`behind ${hops} trusted hops, only the health checks are answered over plain HTTP, and no ride is created`, async () => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'http' };
        const { status } = await ask('/v1/rides', headers, { method: 'POST', body: JSON.stringify(validRide) });
        expect(status).to.equal(403);
        expect(await rides.countDocuments({ keyId: key.keyId })).to.equal(0);
        for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).to.equal(200);
      });
    });
  }
});
