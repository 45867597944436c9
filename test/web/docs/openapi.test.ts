import { expect } from 'chai';
import Joi from 'joi';
import { createApp } from '../../../api/app.ts';
import { driverOperations } from '../../../api/drivers/routes.ts';
import { partnerOperations } from '../../../api/partner/routes.ts';
import { type ErrorCode, errorCodeHeader, errorCodes, publicErrorOf } from '../../../shared/base/errors.ts';
import { transitions } from '../../../shared/rides/transitions.ts';
import { commonErrors, errorAnswers } from '../../../web/docs/error-answers.ts';
import { jsonSchemaOf } from '../../../web/docs/joi-schema.ts';
import type { ApiResponse, Header, Media } from '../../../web/docs/openapi-types.ts';
import { isValid, openApi, openApiDocuments, resolved, schemaName } from '../../support/documented.ts';
import { useTestApi } from '../../support/service.ts';

/** Errors of pages and of the operator's commands, which API clients never get. */
const ofPeople: ErrorCode[] = [
  ...(['account_suspended', 'forbidden', 'foreign_change', 'link_not_found'] as const),
  ...(['key_changed', 'not_erasable'] as const),
];
/** Errors of paths and methods that no operation has. */
const ofNoOperation: ErrorCode[] = ['not_found', 'method_not_allowed'];
/** Errors with the status and text of another error, so that clients see no difference. */
const doubles: ErrorCode[] = ['unconfirmed'];

const apis = [
  { part: 'partner', base: '/v1', operations: partnerOperations, document: openApi.partner },
  { part: 'drivers', base: '/drivers/v1', operations: driverOperations, document: openApi.driver },
];

describe('the OpenAPI documents', () => {
  const api = useTestApi();

  it("the partners' and the drivers' OpenAPI documents have exactly the routes of their APIs", async () => {
    const app = createApp(api.ctx);
    await app.close?.();
    for (const { part, document } of apis) {
      const expected = app.parts
        .filter(({ name }) => name === part)
        .flatMap((one) => one.routes())
        .filter(({ path }) => !path.startsWith('/api/v1'))
        .map(({ method, path }) => `${method} ${path}`.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}'));
      const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(documented).to.have.members(expected);
    }
  });

  it('each OpenAPI document has exactly the schemas, responses and headers that it uses', () => {
    for (const document of openApiDocuments) {
      const text = JSON.stringify(document);
      const used = [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name);
      const { schemas, responses, headers } = document.components;
      const listed = Object.entries({ schemas, responses, headers }).flatMap(([kind, parts]) =>
        Object.keys(parts).map((name) => `${kind}/${name}`),
      );
      expect([...new Set(used)]).to.have.members(listed);
    }
  });

  it('a schema of both OpenAPI documents is the same in both', () => {
    for (const [name, schema] of Object.entries(openApi.driver.components.schemas)) {
      expect(openApi.partner.components.schemas[name] ?? schema, name).to.deep.equal(schema);
    }
  });

  it('no operationId of the OpenAPI documents equals the name of a schema or another operationId', () => {
    const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');
    for (const { paths, webhooks, components } of openApiDocuments) {
      const operations = Object.values({ ...paths, ...webhooks }).flatMap((methods) => Object.values(methods));
      const names = [...operations.map(({ operationId }) => operationId), ...Object.keys(components.schemas)].map(
        plain,
      );
      expect(new Set(names).size).to.equal(names.length);
      const globals = ['Error', 'Event', 'Response', 'Request', 'Headers', 'Date', 'Map', 'Object', 'Record'];
      for (const name of globals) expect(names).not.to.include(plain(name));
    }
  });

  it('every enum of a field or parameter is a named schema of the OpenAPI documents, written once', () => {
    for (const { paths, webhooks, components } of openApiDocuments) {
      const schemas = Object.values(components.schemas);
      const enums = schemas.filter((schema) => schema.enum);
      const others = schemas.filter((schema) => !schema.enum);
      expect(JSON.stringify([paths, webhooks, others])).not.to.include('"enum"');
      const values = enums.map((schema) => JSON.stringify(schema));
      expect(new Set(values).size).to.equal(values.length);
    }
  });

  it('all titles and summaries of an OpenAPI document are different, and so are the titles of the documents', () => {
    for (const { paths, components } of openApiDocuments) {
      const summaries = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ summary }) => summary));
      expect(new Set(summaries).size).to.equal(summaries.length);
      expect(JSON.stringify(components)).not.to.include('"title"');
    }
    expect(openApi.partner.info.title).not.to.equal(openApi.driver.info.title);
  });

  it('the OpenAPI documents have exactly the errors that API clients can get', () => {
    const known = [...Object.keys(errorAnswers), ...ofPeople, ...doubles];
    expect(known).to.have.members(errorCodes);
    const used = [...partnerOperations, ...driverOperations].flatMap(({ errors }) => errors);
    expect([...new Set([...used, ...commonErrors, ...ofNoOperation])]).to.have.members(Object.keys(errorAnswers));
  });

  it("X-Service-Error lists exactly the codes of each operation's errors, by status", () => {
    for (const { base, operations, document } of apis) {
      for (const { method, path, errors } of operations) {
        const template = (base + path).replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');
        const { responses = {} } = document.paths[template]?.[method.toLowerCase()] ?? {};
        const documented = Object.entries(responses).flatMap(([status, response]) => {
          const header = resolved<ApiResponse>(response, document).headers?.[errorCodeHeader] as Header | undefined;
          return (header?.schema.enum ?? []).map((code) => [Number(status), code, header?.required]);
        });
        const expected = [...commonErrors, ...errors].map((code) => [publicErrorOf(code).status, code, true]);
        expect(documented, template).to.have.deep.members(expected);
      }
    }
  });

  it("the partners' OpenAPI document has exactly the events of the lifecycle and offer.withdrawn, and the drivers' document has none", () => {
    const sent = Object.values(transitions).flatMap(({ event }) => event ?? []);
    expect(Object.keys(openApi.partner.webhooks)).to.have.members([...new Set(sent), 'offer.withdrawn']);
    expect(openApi.driver.webhooks).to.deep.equal({});
  });

  it('the examples of the OpenAPI document match their schemas', () => {
    const media = openApiDocuments.flatMap((document) =>
      Object.values({ ...document.paths, ...document.webhooks })
        .flatMap((methods) => Object.values(methods))
        .flatMap(({ requestBody, responses }) => [
          requestBody?.content['application/json'],
          ...Object.values(responses).map(
            (response) => resolved<ApiResponse>(response, document).content?.['application/json'],
          ),
        ]),
    );
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
    const operations = openApiDocuments.flatMap((document) =>
      Object.values(document.paths).flatMap((methods) =>
        Object.values(methods).map((operation) => ({ ...operation, document })),
      ),
    );
    for (const { operationId, responses, document } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        const headers = Object.keys(resolved<ApiResponse>(response, document).headers ?? {});
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
    expect(isValid('ErrorBody', { error: 'x', surprise: true })).to.equal(true);
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
      { fare: 1_000_000.01 },
      { pickup: null },
      { pickup: { lat: 1 } },
      { pickup: { lat: 90.1, lng: 2 } },
      { destination: { lat: 1, lng: -180.1 } },
      { distanceKm: -0.01 },
      { passengerCount: 0 },
      { rideType: 'express' },
      { onDriverCancel: 'end' },
      { passenger: 'Ann' },
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
      openApi.partner.paths[path]?.get?.parameters?.find(({ name }) => ['cursor', 'after'].includes(name)),
    );
    for (const cursor of cursors) expect(cursor?.schema).to.deep.equal({ type: 'string' });
  });

  it('jsonSchemaOf throws for a custom rule or a dependency without .meta({ openapi })', () => {
    const silent = Joi.object({ plate: Joi.string().custom((value) => value) });
    expect(() => jsonSchemaOf(silent)).to.throw('.meta({ openapi })');
    expect(() => jsonSchemaOf(Joi.object({ a: Joi.any(), b: Joi.any() }).or('a', 'b'))).to.throw('.meta({ openapi })');
  });
});
