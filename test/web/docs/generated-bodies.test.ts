import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonSchema } from '../../../shared/base/json-schema.ts';
import { bodyFrom, fits, mutantsOf } from '../../support/body-from-schema.ts';
import { forgetCharges } from '../../support/charges.ts';
import { type Answer, type Client, call } from '../../support/client.ts';
import {
  documentedSchemas,
  isValid,
  openApi,
  openApiDocuments,
  schemaName,
  schemaOf,
} from '../../support/documented.ts';
import { type GatewayDriver, newGatewayDriver } from '../../support/drivers.ts';
import { useTestApi } from '../../support/service.ts';

/** Each seed generates different bodies. */
const seed = Number(process.env.SEED ?? 20_251_121);
/** The number of bodies. `npm run test:docs` tries 2,000. */
const count = Number(process.env.COUNT ?? 400);
const atOnce = 20;

/** Removes fields whose rule a schema cannot express: allowed hosts and addresses, a time that is ahead, numbers and languages. */
function withoutOwnRules(name: string): JsonSchema {
  const { properties = {}, ...schema } = documentedSchemas[name] as JsonSchema;
  const { webhookUrl: _, pickupAt: __, notify: ___, passenger, ...rest } = properties;
  const others = rest.url ? { ...rest, url: { type: 'string', enum: ['https://partner.example/second'] } } : rest;
  if (!passenger) return { ...schema, properties: others };
  const { locale: ____, ...ofPassenger } = passenger.properties ?? {};
  return { ...schema, properties: { ...others, passenger: { ...passenger, properties: ofPassenger } } };
}

describe(`${count.toLocaleString('en')} bodies made from the OpenAPI document`, () => {
  const api = useTestApi();
  let partner: Client & { key: string; keyId: string };
  let driver: GatewayDriver;
  let rideId: string;

  before(async () => {
    partner = await api.partner();
    driver = await newGatewayDriver(api);
    rideId = (await partner.createRide()).body.rideId;
  });

  const send = {
    NewRide: (body: string) => partner.post('/rides', body),
    OfferChoice: (body: string) => partner.post(`/rides/${rideId}/accept`, body),
    ChangedTerms: (body: string) => partner.send('PATCH', `/rides/${rideId}`, body),
    DriverMessageText: (body: string) => partner.post(`/rides/${rideId}/messages`, body),
    NewFare: (body: string) => partner.post(`/rides/${rideId}/fare`, body),
    ManualOffer: (body: string) => partner.post(`/test/rides/${rideId}/offer`, body),
    NewWebhookEndpoint: (body: string) => partner.post('/webhook-endpoints', body),
    DriverPlace: (body: string) => driver.post('/me/online', body),
    DriverOffer: (body: string) => driver.post(`/requests/${rideId}/offers`, body),
    DriverStart: (body: string) => driver.post('/ride/start', body),
    DriverSeen: (body: string) => driver.post('/ride/seen', body),
    DriverStep: (body: string) => driver.post('/ride/arrive', body),
  };
  type Name = keyof typeof send;
  const names: Name[] = ['NewRide', 'NewRide', ...(Object.keys(send) as Name[])];

  interface Sent extends Pick<Answer, 'status' | 'headers' | 'text'> {
    name: string;
    body: unknown;
  }

  /** Sends each of the generated bodies, and passes the answers to `check`. */
  async function sendAll(bodies: (schema: JsonSchema) => fc.Arbitrary<unknown>, check: (sent: Sent) => void) {
    const any = fc.oneof(
      ...names.map((name) =>
        bodies(withoutOwnRules(name))
          .filter(fits)
          .map((body) => ({ name, body })),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: atOnce, maxLength: atOnce }), async (sent) => {
        // Resets the charges, because most creations would otherwise answer 429.
        await forgetCharges(api.ctx, partner.keyId);
        await Promise.all(
          sent.map(async ({ name, body }) => {
            const { status, headers, text } = await send[name](JSON.stringify(body));
            check({ name, body, status, headers, text });
          }),
        );
      }),
      { seed, numRuns: count / atOnce, endOnFailure: true },
    );
  }

  /**
   * Sends all bodies as position reports at once. Each has its own driver, because the reports of one driver are
   * throttled.
   */
  async function reportAll(reports: readonly unknown[], check: (sent: Sent) => void) {
    const reporters = await Promise.all(reports.map(() => newGatewayDriver(api)));
    await Promise.all(
      reports.map(async (report, index) => {
        const reporter = reporters[index] as GatewayDriver;
        const { status, headers, text } = await reporter.put('/me/position', JSON.stringify(report));
        check({ name: 'DriverReport', body: report, status, headers, text });
      }),
    );
  }
  const reportsFrom = (bodies: (schema: JsonSchema) => fc.Arbitrary<unknown>) =>
    fc.sample(bodies(withoutOwnRules('DriverReport')), { seed, numRuns: count / 10 });

  it(`no body generated from the OpenAPI document gets a 400 or has ignored fields (seed ${seed})`, async () => {
    const seen = new Set<number>();
    const check = ({ name, body, status, headers, text }: Sent) => {
      seen.add(status);
      expect(status, `${name} ${JSON.stringify(body)}: ${text}`).not.to.equal(400);
      expect(headers.get('x-service-ignored-fields'), JSON.stringify(body)).to.equal(null);
      expect(isValid(name, body), JSON.stringify(body)).to.equal(true);
    };
    await sendAll(bodyFrom, check);
    await reportAll(reportsFrom(bodyFrom), check);
    expect([...seen]).to.have.members([200, 201, 204, 404, 409]);
  }).timeout(120_000);

  it(`the OpenAPI document and the API refuse the same mutated bodies (seed ${seed})`, async () => {
    const refused = new Map([
      [true, 0],
      [false, 0],
    ]);
    const check = ({ name, body, status, text }: Sent) => {
      const isRefused = status === 400;
      refused.set(isRefused, (refused.get(isRefused) ?? 0) + 1);
      expect(!isValid(name, body), `${status} ${text} to ${name} ${JSON.stringify(body)}`).to.equal(isRefused);
    };
    await sendAll(mutantsOf, check);
    await reportAll(reportsFrom(mutantsOf), check);
    // The comparison is useful only if both outcomes are frequent.
    for (const times of refused.values()) expect(times).to.be.above(count / 5);
  }).timeout(120_000);

  it('query parameters are accepted at the limits of their schema, and answer 400 beyond them', async () => {
    let count = 0;
    for (const [path, { get }] of Object.entries(openApi.partner.paths)) {
      const inQuery = (get?.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const required = inQuery.filter((parameter) => parameter.required);
      const good = Object.fromEntries(required.map(({ name, schema }) => [name, String(schema.examples?.[0])]));
      for (const { name, schema } of inQuery) {
        for (const [value, isRight] of edgesOf(schemaOf(schema))) {
          const target = `${path.replace('{rideId}', rideId).replace('{month}', '2026-11')}?${new URLSearchParams({ ...good, [name]: value })}`;
          // HEAD, because it does not wait for events.
          const headers: Record<string, string> = path.startsWith('/drivers')
            ? { authorization: `Bearer ${driver.key}` }
            : { 'x-api-key': partner.key };
          const { status } = await call(api.url + target, { method: 'HEAD', headers });
          expect(status, target).to.equal(isRight ? 200 : 400);
          count += 1;
        }
      }
    }
    expect(count).to.be.above(40);
  });

  it('the generated bodies cover every body schema', () => {
    const bodies = openApiDocuments
      .flatMap(({ paths }) => Object.values(paths))
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ requestBody }) => (requestBody ? [schemaName(requestBody.content['application/json'].schema)] : []));
    // Any body of a manual start is accepted, as the contract says: only a ride with a PIN reads it.
    expect([...new Set(bodies)]).to.have.members([...Object.keys(send), 'DriverReport', 'ManualStart']);
  });
});

/** Values at and beyond the limits of a parameter, each with true if it is allowed. */
function edgesOf(schema: JsonSchema): [string, boolean][] {
  const { enum: members, type, minimum = 0, maximum = 0, maxLength, examples = [] } = schema;
  if (members) return [...members.map((member): [string, boolean] => [String(member), true]), ['x', false]];
  if (type === 'integer') {
    const right = [minimum, maximum].map((edge): [string, boolean] => [String(edge), true]);
    const wrong = [minimum - 1, maximum + 1, minimum + 0.5, 'x'].map((beyond): [string, boolean] => [
      String(beyond),
      false,
    ]);
    return [...right, ...wrong];
  }
  // Parameters without a maximum length are cursors, whose format is undocumented, and texts whose examples show
  // their format.
  if (maxLength === undefined) return [...examples.map((one): [string, boolean] => [String(one), true]), ['x', false]];
  return [
    ['\u{1d54f}'.repeat(maxLength), true],
    ['x'.repeat(maxLength + 1), false],
  ];
}
