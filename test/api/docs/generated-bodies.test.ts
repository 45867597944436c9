import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { bodyFrom, mutantsOf } from '../../support/body-from-schema.ts';
import type { Client } from '../../support/client.ts';
import { isValid, openApi } from '../../support/documented.ts';
import { startTestApi, type TestApi } from '../../support/service.ts';

/** Another seed tries other bodies. */
const seed = Number(process.env.SEED ?? 20_251_121);
const count = 2_000;
const atOnce = 20;

/** Which webhook URLs are allowed depends on names and addresses, which a schema cannot say. */
function withoutWebhookUrl(name: string): JsonSchema {
  const { properties = {}, ...schema } = openApi.components.schemas[name] as JsonSchema;
  const { webhookUrl: _, ...others } = properties;
  return { ...schema, properties: others };
}

describe(`${count.toLocaleString('en')} bodies made from the OpenAPI document`, () => {
  let api: TestApi;
  let partner: Client & { keyId: string };
  let rideId: string;

  before(async () => {
    api = await startTestApi();
    partner = await api.partner();
    rideId = (await partner.createRide()).body.rideId;
  });
  after(() => api.close());

  const paths = { NewRide: () => '/rides', AcceptOffer: () => `/rides/${rideId}/accept` };
  type Name = keyof typeof paths;
  const names: Name[] = ['NewRide', 'NewRide', 'NewRide', 'AcceptOffer'];

  /** Sends each of the generated bodies, and hands the answers on. */
  async function sendAll(
    bodies: (schema: JsonSchema) => fc.Arbitrary<unknown>,
    check: (sent: { name: string; body: unknown; status: number; ignored: string | null; text: string }) => void,
  ) {
    const any = fc.oneof(...names.map((name) => bodies(withoutWebhookUrl(name)).map((body) => ({ name, body }))));
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: atOnce, maxLength: atOnce }), async (sent) => {
        // Without this most creations would be a 429.
        await api.ctx.redis.del(`rides:created:${partner.keyId}`);
        await Promise.all(
          sent.map(async ({ name, body }) => {
            const { status, headers, text } = await partner.post(paths[name](), JSON.stringify(body));
            check({ name, body, status, ignored: headers.get('x-service-ignored-fields'), text });
          }),
        );
      }),
      { seed, numRuns: count / atOnce, endOnFailure: true },
    );
  }

  it(`none gets a 400, and no field of them is ignored (seed ${seed})`, async () => {
    const seen = new Set<number>();
    await sendAll(bodyFrom, ({ name, body, status, ignored, text }) => {
      seen.add(status);
      expect(status, `${name} ${JSON.stringify(body)}: ${text}`).not.to.equal(400);
      expect(ignored, JSON.stringify(body)).to.equal(null);
      expect(isValid(name, body), JSON.stringify(body)).to.equal(true);
    });
    expect([...seen]).to.have.members([201, 404]);
  }).timeout(120_000);

  it(`and of ${count.toLocaleString('en')} mutants of them the document and the API refuse the same ones (seed ${seed})`, async () => {
    const refused = new Map([
      [true, 0],
      [false, 0],
    ]);
    await sendAll(mutantsOf, ({ name, body, status, text }) => {
      const isRefused = status === 400;
      refused.set(isRefused, (refused.get(isRefused) ?? 0) + 1);
      expect(!isValid(name, body), `${status} ${text} to ${name} ${JSON.stringify(body)}`).to.equal(isRefused);
    });
    // The comparison is worth something only while both happen often.
    for (const times of refused.values()) expect(times).to.be.above(count / 5);
  }).timeout(120_000);
});
