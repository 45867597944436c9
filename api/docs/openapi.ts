import type Joi from 'joi';
import { publicErrorOf } from '../../shared/errors.ts';
import { type JsonSchema, objectSchema } from '../../shared/json-schema.ts';
import { eventExamples, eventSchemas } from '../../shared/rides/event-schemas.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';
import type { EventName } from '../../shared/rides/ride-types.ts';
import { partnerOperations } from '../partner/operations.ts';
import { type AnswerHeader, answerHeaders, headerOf } from './answer-headers.ts';
import { commonErrors, type DocumentedError, errorAnswer } from './error-answers.ts';
import { type EventHeader, eventHeaders } from './event-headers.ts';
import { jsonSchemaOf } from './joi-schema.ts';
import { exampleBaseUrl } from './example-base-url.ts';
import { type Operation, tags } from './operation.ts';

/** An OpenAPI 3.1 document, as far as this service writes and reads one. */
export interface OpenApiDocument {
  openapi: string;
  info: { version: string; [field: string]: unknown };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: object[];
  paths: Record<string, Record<string, PathOperation>>;
  webhooks: Record<string, { post: Webhook }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    headers: Record<string, { description: string }>;
    securitySchemes: object;
  };
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Media {
  schema: JsonSchema;
  example?: object;
  examples?: Record<string, { summary?: string; value: object }>;
}

export interface Response {
  description: string;
  headers?: Record<string, Ref>;
  content?: { 'application/json': Media };
}

export interface PathOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { required: true; content: { 'application/json': Media } };
  responses: Record<string, Response | Ref>;
}

export interface Webhook extends Omit<PathOperation, 'responses'> {
  responses: Record<string, Response>;
}

export interface Ref {
  $ref: string;
}

/** The bases and their operations. A part with routes for partners or drivers adds a line. */
const documented: { base: string; operations: readonly Operation[] }[] = [
  { base: '/v1', operations: partnerOperations },
];

/** What the names in paths stand for. */
const pathParameters: Readonly<Record<string, JsonSchema>> = { rideId };

const errorSchema = objectSchema(
  { error: { type: 'string', description: 'What is wrong, for people to read: programs go by the status.' } },
  { title: 'Error' },
);

/**
 * The OpenAPI document of the service: made from the schemas that its routes validate with and its presenters return.
 * `version` is the newest of the changelog. Addresses begin with `exampleBaseUrl`.
 */
export function openApiDocument(version: string): OpenApiDocument {
  const components = new Components();
  const paths: OpenApiDocument['paths'] = {};
  for (const { base, operations } of documented) {
    for (const operation of operations) {
      const path = pathOf(base, operation);
      paths[path] ??= {};
      paths[path][operation.method.toLowerCase()] = describeOperation(operation, components);
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
      summary: 'Request rides at your price, choose among the offers of drivers, follow the trip.',
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
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      headers: Object.fromEntries(
        Object.entries(answerHeaders).map(([name, { description, schema, example }]) => [
          name,
          { description, schema, example, ...(name in answerHeaders && isRequired(name as AnswerHeader)) },
        ]),
      ),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A secret key: `Authorization: Bearer svc_test_...`.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'The same key in a header of its own.' },
      },
    },
  };
}

const eventTag = ['Events', 'What is sent to your webhook URL.'] as const;

const isRequired = (name: AnswerHeader) => (headerOf(name).required ? { required: true } : {});

/** `/v1/rides/{rideId}` */
const pathOf = (base: string, { path }: Operation): string =>
  (base + path).replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');

function describeOperation(operation: Operation, components: Components): PathOperation {
  const { id, summary, description, tag, body, answer } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: id,
    summary,
    description,
    tags: [tags[tag][0]],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true as const,
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
        headers: headerRefs(['X-Request-Id', ...(answer.headers ?? [])]),
        content: { 'application/json': { schema: components.refer(answer.schema ?? {}), example: answer.example } },
      },
      ...errorResponses([...commonErrors, ...operation.errors], components),
    },
  };
}

function parametersOf({ path, headers = {}, query }: Operation): Parameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']): Parameter => {
    const schema = pathParameters[name];
    if (!schema) throw new Error(`pathParameters does not say what :${name} is`);
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

/** A query is text: what may be null in a body is absent there. */
const withoutNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: Array.isArray(type) ? type.find((one) => one !== 'null') : type,
});

function parameter(name: string, where: Parameter['in'], schema: JsonSchema, required: boolean): Parameter {
  const { description, ...rest } = schema;
  return { name, in: where, required, description, schema: rest };
}

/** One response for each status, whatever the number of errors behind it. */
function errorResponses(codes: readonly DocumentedError[], components: Components): Record<string, Ref> {
  const byStatus: Record<number, DocumentedError[]> = {};
  for (const code of codes) {
    const { status } = publicErrorOf(code);
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, those]) => [status, components.referToErrors(those)]),
  );
}

function describeEvent(name: EventName, components: Components): Webhook {
  const schema = eventSchemas[name];
  return {
    operationId: name.replace('.', '_'),
    summary: name,
    description: `${schema.description} How it is sent and verified: [Webhooks](${exampleBaseUrl}/docs/webhooks).`,
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
      '2XX': { description: 'You have the event. Answer within 8 seconds.' },
      '4XX': { description: 'Recorded as failed, and not sent again by itself.' },
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

const headerRefs = (names: readonly AnswerHeader[]): Record<string, Ref> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Collects what the document says once and refers to: schemas with a title, and the responses of errors. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly responses: Record<string, Response> = {};

  /** The schema, in which each schema with a title is replaced by a reference to it. */
  refer(schema: JsonSchema): JsonSchema {
    const { title, ...rest } = schema;
    const inner: JsonSchema = {
      ...rest,
      ...(schema.properties && {
        properties: Object.fromEntries(
          Object.entries(schema.properties).map(([name, property]) => [name, this.refer(property)]),
        ),
      }),
      ...(schema.items && { items: this.refer(schema.items) }),
      ...(schema.anyOf && { anyOf: schema.anyOf.map((member) => this.refer(member)) }),
    };
    if (!title) return inner;
    const known = this.schemas[title];
    if (known && JSON.stringify(known) !== JSON.stringify(inner)) throw new Error(`two schemas are called ${title}`);
    this.schemas[title] = inner;
    return { $ref: `#/components/schemas/${title}` };
  }

  referToErrors(codes: readonly DocumentedError[]): Ref {
    const name = codes.join('-or-');
    this.responses[name] ??= {
      description: codes.map((code) => errorAnswer(code).cause).join('\n\n'),
      headers: headerRefs([
        ...new Set<AnswerHeader>(['X-Request-Id', ...codes.flatMap((code) => errorAnswer(code).headers ?? [])]),
      ]),
      content: {
        'application/json': {
          schema: this.refer(errorSchema),
          examples: Object.fromEntries(codes.flatMap((code) => errorExamples(code))),
        },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

function errorExamples(code: DocumentedError): [string, { value: object }][] {
  const texts = [...(errorAnswer(code).texts ?? []), publicErrorOf(code).text];
  return texts.map((text, index) => [index === 0 ? code : `${code}-${index + 1}`, { value: { error: text } }]);
}
