import { expect } from 'chai';
import fc from 'fast-check';
import { anyEncoding } from '../../support/any-body.ts';
import { type AnyRequest, anyRequest, anyRequestBytes } from '../../support/any-request.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startTestApi, type TestApi } from '../../support/service.ts';

/** Another seed tries other requests; a failure names the seed and the smallest request that fails. */
const seed = Number(process.env.SEED ?? 20_251_121);
/** COUNT=20000 is the figure of the issue. */
const count = Number(process.env.COUNT ?? 2_000);
const atOnce = 100;

const routes = [
  ['GET', '/me'],
  ['POST', '/me/online'],
  ['POST', '/me/offline'],
  ['PUT', '/me/position'],
  ['GET', '/requests'],
  ['POST', '/requests/RIDE/offers'],
  ['DELETE', '/requests/RIDE/offers/OFFER'],
  ['GET', '/ride'],
  ['POST', '/ride/arrive'],
  ['POST', '/ride/start'],
  ['POST', '/ride/complete'],
  ['POST', '/ride/cancel'],
] as const;

const wild = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.constantFrom(null, '', 0, -0, 1e308, 5e-324, 2 ** 53, {}, [], { $gt: '' }, '\ud800', 'x\u0000', '__proto__'),
);
/** The fields of every route, most of them right. */
const fields = fc.record(
  {
    lat: fc.oneof({ weight: 5, arbitrary: fc.double({ min: -91, max: 91, noNaN: true }) }, wild),
    lng: fc.oneof({ weight: 5, arbitrary: fc.double({ min: -181, max: 181, noNaN: true }) }, wild),
    heading: fc.oneof(fc.double({ min: 0, max: 360, noNaN: true }), wild),
    at: fc.oneof(fc.integer(), fc.maxSafeInteger(), wild),
    price: fc.oneof({ weight: 5, arbitrary: fc.double({ min: 0, max: 1e6, noNaN: true }) }, wild),
    etaMinutes: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 1_500 }) }, wild),
    rideId: fc.oneof({ weight: 5, arbitrary: fc.constant('RIDE') }, wild),
    $set: wild,
    available: wild,
  },
  { requiredKeys: ['lat', 'lng', 'price', 'etaMinutes', 'rideId'] },
);
/** A request of a route, and one of any form below the gateway's base. */
const generated = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ route: fc.constantFrom(...routes), body: fields, encoding: anyEncoding }).map((made) => ({
      method: made.route[0] as AnyRequest['method'],
      target: `/drivers/v1${made.route[1]}`,
      headers: [] as AnyRequest['headers'],
      contentType: 'application/json',
      credentials: 'Bearer KEY',
      body: JSON.stringify(made.body),
      encoding: made.encoding,
    })),
  },
  fc
    .tuple(fc.constantFrom(...routes), anyRequest)
    .map(([[, path], request]) => ({ ...request, target: `/drivers/v1${path}` })),
  anyRequest.map((request) => ({ ...request, target: `/drivers/v1${request.target.replace(/^\/(api\/)?v1/, '')}` })),
);

describe(`${count.toLocaleString('en')} generated requests to the drivers' gateway`, () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.close());

  it(`each end in a success or in { error }, never in a 5xx, and the process lives (seed ${seed})`, async function () {
    this.timeout(600_000);
    const seen = new Map<number, number>();
    const place = somewhere();
    const drivers: GatewayDriver[] = [];
    for (let made = 0; made < 20; made++) drivers.push(await newGatewayDriver(api, { at: place }));
    const partner = await api.partner('live');
    const batch = fc.array(generated, { minLength: atOnce, maxLength: atOnce });
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        await api.ctx.redis.del(`rides:created:${partner.keyId}`);
        const { rideId } = (await partner.createRide({ pickup: place })).body;
        await runDispatch(api.ctx, rideId);
        await Promise.all(
          requests.map(async (request, index) => {
            const { key } = drivers[index % drivers.length] as GatewayDriver;
            const filling = { KEY: key, RIDE: rideId, OFFER: 'offer_x', CANARY: 'canary' };
            const { status, body } = await rawRequest(api.url, anyRequestBytes(request, filling));
            seen.set(status, (seen.get(status) ?? 0) + 1);
            expect(status).to.be.within(200, 499);
            if (status >= 400 && request.method !== 'HEAD') expect(body).to.have.all.keys('error');
          }),
        );
        await partner.post(`/rides/${rideId}/cancel`);
      }),
      { seed, numRuns: Math.ceil(count / atOnce), endOnFailure: true },
    );
    expect((await drivers[0]?.get('/me'))?.status).to.be.oneOf([200]);
    for (const status of [200, 201, 204, 400, 401, 404, 405, 409, 413]) {
      expect(seen.get(status), `${status}`).to.be.above(0);
    }
  });
});
