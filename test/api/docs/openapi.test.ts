import { expect } from 'chai';
import Joi from 'joi';
import { createApp } from '../../../api/app.ts';
import { commonErrors, errorAnswers } from '../../../api/docs/error-answers.ts';
import { jsonSchemaOf } from '../../../api/docs/joi-schema.ts';
import type { ApiResponse, Header, Media } from '../../../api/docs/openapi-types.ts';
import { driverOperations } from '../../../api/drivers/routes.ts';
import { partnerOperations } from '../../../api/partner/routes.ts';
import { type ErrorCode, errorCodeHeader, errorCodes, publicErrorOf } from '../../../shared/base/errors.ts';
import { transitions } from '../../../shared/rides/transitions.ts';
import { isValid, openApi, resolved, schemaName } from '../../support/documented.ts';
import { useTestApi } from '../../support/service.ts';

/** Errors of pages and of the operator's commands, which API clients never get. */
const ofPeople: ErrorCode[] = [
  ...(['account_suspended', 'forbidden', 'foreign_change', 'link_not_found'] as const),
  ...(['key_changed', 'not_erasable'] as const),
];
/** Errors of paths and methods that no operation has. */
const ofNoOperation: ErrorCode[] = ['not_found', 'method_not_allowed'];
/** Errors that look to clients like another error: same status and text. */
const doubles: ErrorCode[] = ['unconfirmed'];

describe('the OpenAPI document', () => {
  const api = useTestApi();

  it("the OpenAPI document has exactly the routes of the partner API and the drivers' gateway", async () => {
    const app = createApp(api.ctx);
    const routes = app.parts
      .filter(({ name }) => ['partner', 'drivers'].includes(name))
      .flatMap((part) => part.routes());
    await app.close?.();
    const expected = routes
      .filter(({ path }) => !path.startsWith('/api/v1'))
      .map(({ method, path }) => `${method} ${path}`.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}'));
    const documented = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented).to.have.members(expected);
  });

  it("the OpenAPI document requires a partner's key on partners' routes and a driver's key on drivers' routes", () => {
    for (const [path, methods] of Object.entries(openApi.paths)) {
      for (const { security = openApi.security } of Object.values(methods)) {
        const names = security.flatMap((one) => Object.keys(one));
        expect(names, path).to.deep.equal(
          path.startsWith('/drivers/') ? ['driverBearer', 'driverApiKey'] : ['bearer', 'apiKey'],
        );
      }
    }
  });

  it('the OpenAPI document has exactly the errors that API clients can get', () => {
    const known = [...Object.keys(errorAnswers), ...ofPeople, ...doubles];
    expect(known).to.have.members(errorCodes);
    const used = [...partnerOperations, ...driverOperations].flatMap(({ errors }) => errors);
    expect([...new Set([...used, ...commonErrors, ...ofNoOperation])]).to.have.members(Object.keys(errorAnswers));
  });

  it("X-Service-Error lists exactly the codes of each operation's errors, by status", () => {
    for (const { base, operations } of [
      { base: '/v1', operations: partnerOperations },
      { base: '/drivers/v1', operations: driverOperations },
    ]) {
      for (const { method, path, errors } of operations) {
        const template = (base + path).replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');
        const { responses = {} } = openApi.paths[template]?.[method.toLowerCase()] ?? {};
        const documented = Object.entries(responses).flatMap(([status, response]) => {
          const header = resolved<ApiResponse>(response).headers?.[errorCodeHeader] as Header | undefined;
          return (header?.schema.enum ?? []).map((code) => [Number(status), code, header?.required]);
        });
        const expected = [...commonErrors, ...errors].map((code) => [publicErrorOf(code).status, code, true]);
        expect(documented, template).to.have.deep.members(expected);
      }
    }
  });

  it('the OpenAPI document has exactly the events of the lifecycle', () => {
    const sent = Object.values(transitions).flatMap(({ event }) => event ?? []);
    expect(Object.keys(openApi.webhooks)).to.have.members([...new Set(sent)]);
  });

  it('the examples of the OpenAPI document match their schemas', () => {
    const operations = [
      ...Object.values(openApi.paths).flatMap((methods) => Object.values(methods)),
      ...Object.values(openApi.webhooks).map(({ post }) => post),
    ];
    const media = operations.flatMap(({ requestBody, responses }) => [
      requestBody?.content['application/json'],
      ...Object.values(responses).map((response) => resolved<ApiResponse>(response).content?.['application/json']),
    ]);
    let count = 0;
    for (const { schema, example, examples } of media.filter((one) => one !== undefined) as Media[]) {
      const values = [...(example ? [example] : []), ...Object.values(examples ?? {}).map(({ value }) => value)];
      expect(values, schemaName(schema)).not.to.have.length(0);
      for (const value of values) expect(isValid(schemaName(schema), value), JSON.stringify(value)).to.equal(true);
      count += values.length;
    }
    expect(count).to.be.above(20);
  });

  it('documents X-Request-Id on every answer, Retry-After on every 429 and 503, RateLimit only on creations', () => {
    const operations = Object.values(openApi.paths).flatMap((methods) => Object.values(methods));
    for (const { operationId, responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        const headers = Object.keys(resolved<ApiResponse>(response).headers ?? {});
        expect(headers, `${operationId} ${status}`).to.include('X-Request-Id');
        expect(headers.includes('Retry-After'), `${operationId} ${status}`).to.equal(['429', '503'].includes(status));
        const isLimited = operationId === 'createRide' && ['201', '429'].includes(status);
        expect(headers.includes('RateLimit'), `${operationId} ${status}`).to.equal(isLimited);
        expect(headers.includes('RateLimit-Policy'), `${operationId} ${status}`).to.equal(isLimited);
      }
    }
  });

  it('the schemas of the OpenAPI document allow unknown fields', () => {
    expect(JSON.stringify(openApi)).not.to.match(/"additionalProperties":false|unevaluatedProperties/);
    expect(isValid('NewRide', { ...newRide, surprise: true })).to.equal(true);
    expect(isValid('Error', { error: 'x', surprise: true })).to.equal(true);
  });

  const newRide = { pickup: { lat: 1, lng: 2 }, destination: { lat: 1, lng: 2 }, fare: 1 };

  it('the OpenAPI document has the rules that Joi does not export: bounds, lengths, null for optional fields', () => {
    expect(isValid('NewRide', newRide)).to.equal(true);
    const optional = ['carType', 'rideType', 'passengerCount', 'distanceKm', 'passenger', 'notes', 'webhookUrl'];
    for (const field of [...optional, 'reference', 'metadata', 'autoAccept', 'needs']) {
      expect(isValid('NewRide', { ...newRide, [field]: null }), field).to.equal(true);
    }
    for (const wrong of [
      { fare: null },
      { fare: 0 },
      { fare: 2 ** 53 },
      { passengerCount: 8 },
      { notes: '𝕏'.repeat(201) },
      { webhookUrl: 'http://partner.example/' },
      { carType: 'limousine' },
      { reference: '𝕏'.repeat(65) },
      { metadata: { '1st': 'a name begins with a letter' } },
      { metadata: { text: 'x'.repeat(101) } },
      { metadata: { number: 1 } },
      { autoAccept: {} },
      { needs: ['boat'] },
      { needs: ['pet', 'pet'] },
      { autoAccept: { maxPrice: 0 } },
      { autoAccept: { maxPrice: 5, maxEtaMinutes: 1_441 } },
      { autoAccept: { maxPrice: 5, waitSeconds: 0 } },
      { autoAccept: { maxPrice: 5, waitSeconds: 601 } },
      { autoAccept: { maxPrice: 5, waitSeconds: 1.5 } },
    ]) {
      expect(isValid('NewRide', { ...newRide, ...wrong }), JSON.stringify(wrong)).to.equal(false);
    }
    expect(isValid('NewRide', { ...newRide, notes: '𝕏'.repeat(200) })).to.equal(true);
  });

  it('the OpenAPI document does not describe the form of a cursor, which may change', () => {
    const cursors = ['/v1/rides', '/v1/events'].map((path) =>
      openApi.paths[path]?.get?.parameters?.find(({ name }) => ['cursor', 'after'].includes(name)),
    );
    for (const cursor of cursors) expect(cursor?.schema).to.deep.equal({ type: 'string' });
  });

  it('jsonSchemaOf throws for a custom rule or a dependency without .meta({ openapi })', () => {
    const silent = Joi.object({ plate: Joi.string().custom((value) => value) });
    expect(() => jsonSchemaOf(silent)).to.throw('.meta({ openapi })');
    expect(() => jsonSchemaOf(Joi.object({ a: Joi.any(), b: Joi.any() }).or('a', 'b'))).to.throw('.meta({ openapi })');
  });
});
