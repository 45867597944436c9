import type Joi from 'joi';
import { type ErrorCode, publicErrorOf } from '../../shared/base/errors.ts';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { type Operation, tags } from '../../shared/base/operation.ts';
import { type SentEvent, sentEvents } from '../../shared/base/terms.ts';
import { offerId } from '../../shared/rides/driver/driver-schemas.ts';
import { eventExamples, sentEventSchemas } from '../../shared/rides/event-schemas.ts';
import { endpointId, month, rideId, sequence } from '../../shared/rides/public-schemas.ts';
import { Components, type EnumStyle } from './components.ts';
import type { Operations } from './docs-pages.ts';
import { type Audience, commonErrors } from './error-answers.ts';
import { type EventHeader, eventHeaders } from './event-headers.ts';
import { exampleBaseUrl } from './example-base-url.ts';
import { jsonSchemaOf } from './joi-schema.ts';
import type { OpenApiDocument, Parameter, PathOperation, Ref, Webhook } from './openapi-types.ts';

/** The parts in which the two documents differ. */
const apis = {
  partner: {
    title: 'Ride Partner API',
    summary: "Request rides at your price, choose among drivers' offers, follow the trip.",
    guides: `Guides, verifiers and a quick start: ${exampleBaseUrl}/docs`,
    server: 'The paths under `/v1` are also served under the older `/api/v1`.',
    base: '/v1',
    events: sentEvents,
    key: 'A secret key: `Authorization: Bearer svc_test_...`.',
  },
  driver: {
    title: "Drivers' gateway",
    summary: 'Go online, make offers on rides, drive the ride that you were chosen for.',
    guides: `The guide: ${exampleBaseUrl}/docs/drivers`,
    server: "The drivers' gateway.",
    base: '/drivers/v1',
    events: [],
    key: "A driver's secret key: `Authorization: Bearer svc_driver_...`.",
  },
} as const satisfies Record<Audience, { events: readonly SentEvent[]; [text: string]: unknown }>;

/** The schemas of path parameters. Only drivers' paths have an offer. */
const pathParameters: Readonly<Record<string, JsonSchema>> = { rideId, offerId, endpointId, sequence, month };

/**
 * The OpenAPI document for partners or for drivers, built from the schemas of the routes and presenters. `version` is
 * the newest version in the changelog. Addresses begin with `exampleBaseUrl`.
 */
export function openApiDocument(
  tables: Operations,
  audience: Audience,
  version: string,
  enums: EnumStyle = 'named',
): OpenApiDocument {
  const operations = tables[audience];
  const { title, summary, guides, server, base, events, key } = apis[audience];
  const components = new Components(audience, enums);
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    const path = pathOf(base, operation);
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = describeOperation(operation, audience, components);
  }
  const used = new Set(operations.map(({ tag }) => tags[tag]));
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      summary,
      description: guides,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: exampleBaseUrl, description: server }],
    tags: [...used, ...(events.length > 0 ? [eventTag] : [])].map(([name, description]) => ({ name, description })),
    // Two headers can carry the key.
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    webhooks: Object.fromEntries(events.map((name) => [name, { post: describeEvent(name, components) }])),
    components: {
      schemas: components.schemas,
      responses: components.responses,
      headers: components.headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: key },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The same key in its own header.',
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
  const parameters = parametersOf(operation, components);
  return {
    operationId: id,
    summary,
    description,
    tags: [tags[tag][0]],
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
        headers: components.referToHeaders([
          'X-Request-Id',
          ...(answer.headers ?? []),
          ...(audience === 'partner' ? (['X-Service-Ignored-Fields', 'X-Service-Warnings'] as const) : []),
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
      ...errorResponses([...commonErrors, ...operation.errors], components),
    },
  };
}

function parametersOf({ path, headers = {}, query }: Operation, components: Components): Parameter[] {
  const parameter = (
    name: string,
    where: Parameter['in'],
    { description, ...schema }: JsonSchema,
    required: boolean,
  ) => ({
    ...{ name, in: where, required, description },
    schema: components.refer(schema),
  });
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

/** One response for each status, even if several errors have it. */
function errorResponses(codes: readonly ErrorCode[], components: Components): Record<string, Ref> {
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const code of codes) {
    const { status } = publicErrorOf(code);
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group]) => [status, components.referToErrors(group)]),
  );
}

function describeEvent(name: SentEvent, components: Components): Webhook {
  const schema = sentEventSchemas[name];
  return {
    operationId: `on_${name}`.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: name,
    description: `${schema.description} For sending and verification, see [Webhooks](${exampleBaseUrl}/docs/webhooks).`,
    tags: [eventTag[0]],
    parameters: headersOf(name).map((header) => ({
      name: header,
      in: 'header',
      ...eventHeaders[header],
      schema: components.refer(eventHeaders[header].schema),
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

/** `offer.withdrawn` has no number, and cannot be sent as a test event or again. */
const headersOf = (name: SentEvent): EventHeader[] =>
  (Object.keys(eventHeaders) as EventHeader[]).filter(
    (header) =>
      name !== 'offer.withdrawn' || !['X-Service-Sequence', 'X-Service-Test', 'X-Service-Redelivery'].includes(header),
  );

const namedExamples = (examples: Readonly<Record<string, object>>) =>
  Object.fromEntries(
    Object.entries(examples).map(([summary, value]) => [
      summary.toLowerCase().replaceAll(' ', '-'),
      { summary, value },
    ]),
  );
