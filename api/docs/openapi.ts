import type Joi from 'joi';
import { type ErrorCode, publicErrorOf } from '../../shared/base/errors.ts';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { eventExamples, eventSchemas } from '../../shared/rides/events.ts';
import { offerSchema, rideId, sequence } from '../../shared/rides/public-schemas.ts';
import type { EventName } from '../../shared/rides/ride-types.ts';
import { driverOperations } from '../drivers/routes.ts';
import { type Operation, tags } from '../http/operation.ts';
import { partnerOperations } from '../partner/routes.ts';
import { Components, documentedHeaders, headerRefs } from './components.ts';
import { type Audience, commonErrors } from './error-answers.ts';
import { type EventHeader, eventHeaders } from './event-headers.ts';
import { exampleBaseUrl } from './example-base-url.ts';
import { jsonSchemaOf } from './joi-schema.ts';
import type { OpenApiDocument, Parameter, PathOperation, Ref, Webhook } from './openapi-types.ts';

const documented: readonly { base: string; audience: Audience; operations: readonly Operation[] }[] = [
  { base: '/v1', audience: 'partner', operations: partnerOperations },
  { base: '/drivers/v1', audience: 'driver', operations: driverOperations },
];

/** The schemas of path parameters. */
const pathParameters: Readonly<Record<string, JsonSchema>> = {
  rideId,
  offerId: offerSchema.properties.offerId,
  sequence,
};

/** The two headers that can carry a key. */
const keysOf = {
  partner: [{ bearer: [] }, { apiKey: [] }],
  driver: [{ driverBearer: [] }, { driverApiKey: [] }],
} as const satisfies Record<Audience, object[]>;

/**
 * The OpenAPI document of the service, built from the schemas of its routes and presenters. `version` is the newest
 * version in the changelog. Addresses begin with `exampleBaseUrl`.
 */
export function openApiDocument(version: string): OpenApiDocument {
  const components = new Components();
  const paths: OpenApiDocument['paths'] = {};
  for (const { base, audience, operations } of documented) {
    for (const operation of operations) {
      const path = pathOf(base, operation);
      paths[path] ??= {};
      paths[path][operation.method.toLowerCase()] = describeOperation(operation, audience, components);
    }
  }
  const webhooks = Object.fromEntries(
    Object.keys(eventSchemas).map((name) => [name, { post: describeEvent(name as EventName, components) }]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ride Partner API',
      version,
      summary: "Request rides at your price, choose among drivers' offers, follow the trip.",
      description: `Guides, verifiers and a quick start: ${exampleBaseUrl}/docs`,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [
      {
        url: exampleBaseUrl,
        description: 'The paths under `/v1` are also served under the older `/api/v1`.',
      },
    ],
    tags: [...Object.values(tags), eventTag].map(([name, description]) => ({ name, description })),
    security: [...keysOf.partner],
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      headers: documentedHeaders,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A secret key: `Authorization: Bearer svc_test_...`.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The same key in its own header.',
        },
        driverBearer: {
          type: 'http',
          scheme: 'bearer',
          description: "A driver's secret key: `Authorization: Bearer svc_driver_...`.",
        },
        driverApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: "The driver's key in its own header.",
        },
      },
    },
  };
}

const eventTag = ['Events', 'The requests that we send to your webhook URL.'] as const;

/** The path of an operation as OpenAPI writes it, such as `/v1/rides/{rideId}`. */
const pathOf = (base: string, { path }: Operation): string =>
  (base + path).replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');

function describeOperation(operation: Operation, audience: Audience, components: Components): PathOperation {
  const { id, summary, description, tag, body, answer } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: id,
    summary,
    description,
    tags: [tags[tag][0]],
    ...(audience !== 'partner' && { security: keysOf[audience] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.isOptional,
        content: {
          'application/json': {
            schema: components.refer(jsonSchemaOf(body.schema)),
            examples: namedExamples(body.examples),
          },
        },
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        headers: headerRefs([
          'X-Request-Id',
          ...(answer.headers ?? []),
          ...(audience === 'partner' && body ? (['X-Service-Ignored-Fields'] as const) : []),
          ...(audience === 'partner' ? (['X-Service-Warnings'] as const) : []),
        ]),
        ...(answer.schema && {
          content: {
            [answer.mediaType ?? 'application/json']: {
              schema: components.refer(answer.schema),
              example: answer.example,
            },
          },
        }),
      },
      ...errorResponses([...commonErrors, ...operation.errors], audience, components),
    },
  };
}

function parametersOf({ path, headers = {}, query }: Operation): Parameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']): Parameter => {
    const schema = pathParameters[name];
    if (!schema) throw new Error(`pathParameters lacks :${name}`);
    return parameter(name, 'path', schema, true);
  });
  const inHeaders = Object.entries(headers).map(([name, schema]) =>
    parameter(name, 'header', jsonSchemaOf(schema), isRequiredField(schema)),
  );
  const { properties = {}, required = [] } = query ? jsonSchemaOf(query) : {};
  const inQuery = Object.entries(properties).map(([name, schema]) =>
    parameter(name, 'query', withoutNull(schema), required.includes(name)),
  );
  return [...inPath, ...inHeaders, ...inQuery];
}

const isRequiredField = (schema: Joi.Schema): boolean =>
  (schema.describe().flags as { presence?: string } | undefined)?.presence === 'required';

/** A query parameter is text: it can be absent, but not null. */
const withoutNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: Array.isArray(type) ? type.find((one) => one !== 'null') : type,
});

function parameter(name: string, where: Parameter['in'], schema: JsonSchema, required: boolean): Parameter {
  const { description, ...rest } = schema;
  return { name, in: where, required, description, schema: rest };
}

/** One response for each status, even if several errors have it. */
function errorResponses(codes: readonly ErrorCode[], audience: Audience, components: Components): Record<string, Ref> {
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const code of codes) {
    const { status } = publicErrorOf(code);
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group]) => [status, components.referToErrors(group, audience)]),
  );
}

function describeEvent(name: EventName, components: Components): Webhook {
  const schema = eventSchemas[name];
  return {
    operationId: name.replace('.', '_'),
    summary: name,
    description: `${schema.description} For sending and verification, see [Webhooks](${exampleBaseUrl}/docs/webhooks).`,
    tags: [eventTag[0]],
    parameters: (Object.keys(eventHeaders) as EventHeader[]).map((header) => ({
      name: header,
      in: 'header',
      ...eventHeaders[header],
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.refer(schema), example: eventExamples[name] } },
    },
    responses: {
      '2XX': { description: 'You have received the event. Answer within 8 seconds.' },
      '4XX': { description: 'Recorded as failed. There is no automatic retry.' },
    },
  };
}

const namedExamples = (examples: Readonly<Record<string, object>>) =>
  Object.fromEntries(
    Object.entries(examples).map(([summary, value]) => [
      summary.toLowerCase().replaceAll(' ', '-'),
      { summary, value },
    ]),
  );
