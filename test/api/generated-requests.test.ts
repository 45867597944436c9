import { expect } from 'chai';
import fc from 'fast-check';
import { formProblem } from '../support/answer-form.ts';
import { anyRequest, anyRequestBytes } from '../support/any-request.ts';
import { forgetCharges } from '../support/charges.ts';
import { scaled } from '../support/machine-speed.ts';
import { rawRequest } from '../support/raw-http.ts';
import { useTestApi } from '../support/service.ts';

/** Each seed generates different requests. A failure prints the seed and the smallest request that fails. */
const seed = Number(process.env.SEED ?? 20_251_121);
const count = 2_000;

describe(`${count.toLocaleString('en')} generated requests`, () => {
  const api = useTestApi();

  it(`generated requests get a success body or { error }, never a 5xx or a crash (seed ${seed})`, async function () {
    this.timeout(scaled(60_000));
    const seen = new Map<number, number>();
    const partner = await api.partner();
    const { rideId } = (await partner.createRide()).body;

    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 20, maxLength: 20 }), async (requests) => {
        // Resets the charges, because most creations would otherwise answer 429.
        await forgetCharges(api.ctx, partner.keyId);
        await Promise.all(
          requests.map(async (generated) => {
            const filling = { KEY: partner.key, RIDE: rideId, OFFER: 'offer_x', CANARY: 'canary' };
            const answer = await rawRequest(api.url, anyRequestBytes(generated, filling));
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
            const head = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
            expect(formProblem({ ...answer, head: head.join('\r\n') }, generated.method)).to.equal(undefined);
          }),
        );
      }),
      { seed, numRuns: count / 20, endOnFailure: true },
    );

    expect((await partner.get(`/rides/${rideId}`)).status).to.equal(200);
    // The test is useful only if the requests cause all of these statuses.
    for (const status of [200, 201, 400, 401, 404, 405, 409, 413]) expect(seen.get(status), `${status}`).to.be.above(0);
  });
});
