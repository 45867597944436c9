import { expect } from 'chai';
import fc from 'fast-check';
import { anyRequestBytes } from '../../support/any-request.ts';
import { forgetCharges } from '../../support/charges.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { gatewayRequest } from '../../support/gateway-requests.ts';
import { scaled } from '../../support/machine-speed.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { useTestApi } from '../../support/service.ts';

/** Each seed generates different requests. A failure prints the seed and the smallest request that fails. */
const seed = Number(process.env.SEED ?? 20_251_121);
/** `COUNT=20000` sends more requests. */
const count = Number(process.env.COUNT ?? 500);
const atOnce = 100;

describe(`${count.toLocaleString('en')} generated requests to the drivers' gateway`, () => {
  const api = useTestApi();

  it(`generated gateway requests get a success or { error }, never a 5xx or a crash (seed ${seed})`, async function () {
    this.timeout(scaled(600_000));
    const seen = new Map<number, number>();
    const place = somewhere();
    const drivers: GatewayDriver[] = [];
    for (let made = 0; made < 20; made++) drivers.push(await newGatewayDriver(api, { at: place }));
    const partner = await api.partner('live');
    const batch = fc.array(gatewayRequest, { minLength: atOnce, maxLength: atOnce });
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        await forgetCharges(api.ctx, partner.keyId);
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
    for (const status of [200, 201, 204, 400, 401, 404, 405, 409]) {
      expect(seen.get(status), `${status}`).to.be.above(0);
    }
  });
});
