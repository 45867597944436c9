import { expect } from 'chai';
import mongoose from 'mongoose';
import { createApp } from '../../../api/app.ts';
import { commonErrors, type DocumentedError } from '../../../api/docs/error-answers.ts';
import type { Operation } from '../../../api/docs/operation.ts';
import { serve } from '../../../api/http/serve.ts';
import { partnerOperations } from '../../../api/partner/operations.ts';
import { publicErrorOf } from '../../../shared/errors.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { eventSchemas } from '../../../shared/rides/event-schemas.ts';
import { rideStatuses } from '../../../shared/rides/ride-types.ts';
import { type Client, call, validRide } from '../../support/client.ts';
import { openApi, resolved, schemaProblem } from '../../support/documented.ts';
import { rawRequest, requestText } from '../../support/raw-http.ts';
import { rideIn } from '../../support/rides.ts';
import { startTestApi, type TestApi } from '../../support/service.ts';
import { endBidding, storedRide } from '../../support/stored-rides.ts';

// `call` and `rawRequest` compare every answer with the document, here and in all tests of the API.
describe('the documented answers', () => {
  let api: TestApi;
  let production: TestApi;
  let partner: Client & { key: string; keyId: string };

  before(async () => {
    api = await startTestApi();
    production = await startTestApi({ SERVICE_ENV: 'production' });
  });
  after(async () => {
    await production.close();
    await api.close();
  });
  beforeEach(async () => {
    partner = await api.partner();
  });

  type Status = { status: number; error: string };
  const path = ({ path: pattern }: Operation, rideId = 'ride_x') =>
    pattern.replace(':rideId', rideId).replace(/^\/$/, '');
  const exampleBody = ({ body }: Operation) => body && Object.values(body.examples)[0];

  /** Calls an operation with its example. */
  async function run(operation: Operation, { rideId, body = exampleBody(operation), url = api.url }: RunOptions = {}) {
    const { method } = operation;
    const { status, body: answer } = await call(`${url}/v1${path(operation, rideId)}`, {
      method,
      headers: { authorization: `Bearer ${partner.key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, error: answer.error };
  }
  interface RunOptions {
    rideId?: string;
    body?: object;
    url?: string;
  }

  /** The same, by bytes that no HTTP client sends. */
  async function runRaw(
    operation: Operation,
    lines: string[],
    { url = api.url, isWhole = true } = {},
  ): Promise<Status> {
    const target = `/v1${path(operation)}`;
    const head = [`${operation.method} ${target} HTTP/1.1`, `X-Api-Key: ${partner.key}`, 'Connection: close'];
    const text = requestText([...head, ...lines]);
    const { status, body } = await rawRequest(url, isWhole ? text : text.slice(0, -4));
    return { status, error: body.error };
  }

  /** The look-up of the key fails, with which every operation begins. */
  async function runFailing(operation: Operation, error: Error): Promise<Status> {
    const { find, aggregate } = keys;
    const fail = () => {
      throw error;
    };
    Object.assign(keys, { find: fail, aggregate: fail });
    try {
      return await run(operation);
    } finally {
      Object.assign(keys, { find, aggregate });
    }
  }

  /** Ways to every error that is documented. */
  const provocations: Record<DocumentedError, ((operation: Operation) => Promise<Status>) | 'no operation'> = {
    invalid_request: (operation) => runRaw(operation, ['Host: x', 'Host: y']),
    unauthorized: async (operation) => {
      const { status, body } = await call(`${api.url}/v1${path(operation)}`, { method: operation.method });
      return { status, error: body.error };
    },
    https_required: (operation) => run(operation, { url: production.url }),
    request_timeout: async (operation) => {
      const timeouts = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 10 };
      const server = await serve(api.ctx, createApp(api.ctx), timeouts);
      const url = `http://127.0.0.1:${server.port}`;
      const answer = await runRaw(operation, ['Host: x'], { url, isWhole: false });
      await server.close();
      return answer;
    },
    headers_too_large: (operation) => runRaw(operation, ['Host: x', `X-A: ${'a'.repeat(20_000)}`]),
    internal: (operation) => runFailing(operation, new Error('a fault')),
    unavailable: (operation) => runFailing(operation, new mongoose.mongo.MongoNetworkError('away')),
    payload_too_large: (operation) => run(operation, { body: { filler: 'x'.repeat(20_000) } }),
    ride_not_found: (operation) => run(operation),
    offer_not_found: async (operation) => {
      const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
      return run(operation, { rideId });
    },
    ride_not_bidding: async (operation) => {
      const { rideId, offers } = await rideIn(api.ctx, 'driver_arriving', { by: partner, offers: [{}, {}] });
      return run(operation, { rideId, body: { offerId: offers[1]?.offerId } });
    },
    bidding_over: async (operation) => {
      const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
      await endBidding(rideId);
      return run(operation, { rideId, body: { offerId } });
    },
    offer_withdrawn: async (operation) => {
      const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
      await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
      return run(operation, { rideId, body: { offerId } });
    },
    ride_ended: async (operation) => {
      const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
      return run(operation, { rideId });
    },
    idempotency_conflict: async () => {
      await partner.createRide({}, { 'Idempotency-Key': 'twice' });
      const { status, body } = await partner.createRide({ fare: 99 }, { 'Idempotency-Key': 'twice' });
      return { status, error: body.error };
    },
    rate_limited: async (operation) => {
      await Promise.all(Array.from({ length: 30 }, () => partner.createRide()));
      return run(operation);
    },
    not_found: 'no operation',
    method_not_allowed: 'no operation',
  };

  for (const operation of partnerOperations) {
    for (const code of [...commonErrors, ...operation.errors]) {
      const { status, text } = publicErrorOf(code);
      it(`of ${operation.method} ${operation.path} has a ${status} that happens: ${code}`, async () => {
        const provoke = provocations[code];
        if (provoke === 'no operation') throw new Error(`${code} is an error of no operation`);
        const answer = await provoke(operation);
        expect(answer.status).to.equal(status);
        if (code !== 'invalid_request') expect(answer.error).to.equal(text);
      });
    }
  }

  /** The paths of all fields that a schema has: `offers[].driver.name`. */
  function fieldsOf(given: JsonSchema, prefix = ''): string[] {
    const schema = resolved<JsonSchema>(given);
    const { properties = {}, items, anyOf = [] } = schema;
    return [
      ...Object.entries(properties).flatMap(([name, inside]) => [
        prefix + name,
        ...fieldsOf(inside, `${prefix}${name}.`),
      ]),
      ...(items ? fieldsOf(items, prefix.replace(/\.$/, '[].')) : []),
      ...anyOf.flatMap((member) => fieldsOf(member, prefix)),
    ];
  }

  function fieldsIn(value: unknown, prefix = ''): string[] {
    if (Array.isArray(value)) return value.flatMap((one) => fieldsIn(one, prefix.replace(/\.$/, '[].')));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inside]) => [prefix + name, ...fieldsIn(inside, `${prefix}${name}.`)]);
  }

  it('have every documented field somewhere, and every event too', async () => {
    const seen = new Map<string, Set<string>>();
    const saw = (name: string, value: unknown) =>
      seen.set(name, new Set([...(seen.get(name) ?? []), ...fieldsIn(value)]));

    saw('ServiceInformation', (await partner.get('')).body);
    const addresses = {
      pickup: { ...validRide.pickup, address: 'here' },
      destination: { ...validRide.destination, address: 'there' },
    };
    saw('RideCreated', (await partner.createRide()).body);
    for (const status of rideStatuses) {
      const { rideId, offerId } = await rideIn(api.ctx, status, { by: partner, ...addresses });
      saw('Ride', (await partner.get(`/rides/${rideId}`)).body);
      saw('OfferList', (await partner.get(`/rides/${rideId}/offers`)).body);
      if (status === 'bidding') saw('OfferAccepted', (await partner.post(`/rides/${rideId}/accept`, { offerId })).body);
      if (status === 'arrived') saw('RideCancelled', (await partner.post(`/rides/${rideId}/cancel`)).body);
      for (const { body } of (await storedRide(rideId)).events) {
        const event = JSON.parse(body);
        const { title } = eventSchemas[event.event as keyof typeof eventSchemas];
        expect(schemaProblem(title as string, event)).to.equal(undefined);
        saw(title as string, event);
      }
    }

    const shown = Object.keys(openApi.components.schemas).filter(
      (name) => !['NewRide', 'AcceptOffer', 'Offer', 'Error'].includes(name),
    );
    expect([...seen.keys()]).to.have.members(shown);
    for (const [name, fields] of seen) {
      expect([...fields], name).to.have.members([...new Set(fieldsOf({ $ref: `#/components/schemas/${name}` }))]);
    }
  });
});
