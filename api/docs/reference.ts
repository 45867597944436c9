import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { type Audience, commonErrors } from './error-answers.ts';
import { code, table } from './markdown.ts';
import type {
  ApiResponse,
  Header,
  Media,
  OpenApiDocument,
  Parameter,
  PathOperation,
  Ref,
  Webhook,
} from './openapi-types.ts';

/** The page `reference`, in Markdown: the part of the OpenAPI document for partners. */
export function referenceText(document: OpenApiDocument): string {
  const { servers, info, webhooks } = document;
  const operations = operationsFor(document, 'partner');
  return [
    '# API reference',
    'Every operation, field, error and event. Also available as an [OpenAPI 3.1 document](openapi.json), from which tools generate [typed clients](typed-client.md).',
    `Version ${info.version} ([changelog](changelog.md)), at \`${servers[0]?.url}\`. Each request needs a [key](authentication.md).`,
    'Types are strict: `"5"` is not a number. In a body, `null` for an optional field counts as absent. We ignore unknown fields in requests; ignore unknown fields in answers and events.',
    ...operations.flatMap((operation) => describe(document, operation)),
    ...commonParts(
      document,
      operations,
      'Every operation can have these errors in addition to its own. [Errors](errors.md) explains what to do about them.',
    ),
    '## Events',
    'The requests that we send to your webhook URL. For sending and verification, see [Webhooks](webhooks.md).',
    '### Headers of every event',
    parameterTable(Object.values(webhooks)[0]?.post.parameters ?? []),
    ...Object.entries(webhooks).flatMap(([name, { post }]) => describeEvent(document, name, post)),
  ].join('\n\n');
}

/** The page `drivers-reference`, in Markdown: the part of the OpenAPI document for drivers. */
export function driversReferenceText(document: OpenApiDocument): string {
  const operations = operationsFor(document, 'driver');
  return [
    "# Drivers' reference",
    "Every operation, field and error of the [drivers' gateway](drivers.md). Also part of the [OpenAPI 3.1 document](openapi.json).",
    `At \`${document.servers[0]?.url}\`. Each request needs a driver's key: \`Authorization: Bearer svc_driver_...\`, or \`X-Api-Key\`.`,
    'Types are strict: `"5"` is not a number. In a body, `null` for an optional field counts as absent. We ignore unknown fields in requests; ignore unknown fields in answers.',
    ...operations.flatMap((operation) => describe(document, operation)),
    ...commonParts(document, operations, 'Every operation can have these errors in addition to its own.'),
  ].join('\n\n');
}

interface OperationEntry {
  method: string;
  path: string;
  operation: PathOperation;
}

/** The operations of an audience. Those without their own `security` need a partner's key. */
function operationsFor({ paths }: OpenApiDocument, audience: Audience): OperationEntry[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  return all.filter(({ operation }) => (operation.security === undefined) === (audience === 'partner'));
}

/** The errors of every operation, and the headers of responses. */
function commonParts(document: OpenApiDocument, operations: readonly OperationEntry[], text: string): string[] {
  const [any] = operations;
  const headers = Object.entries({ ...document.components.headers, ...ownHeaders(document, operations) })
    .map(([name, { description }]) => [code(name), statusesWith(document, operations, name), description])
    .filter(([, statuses]) => statuses !== '') as string[][];
  return [
    '## Errors of every operation',
    text,
    ...(any ? [errorTable(errorRows(document, any.operation, isCommon))] : []),
    '## Headers of answers',
    table(['header', 'on', 'meaning'], headers),
  ];
}

const isCommon = (error: string): boolean => (commonErrors as readonly string[]).includes(error);

function describe(document: OpenApiDocument, { method, path, operation }: OperationEntry): string[] {
  const { summary, description, parameters, requestBody, responses } = operation;
  const [status = '', response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const answer = resolve<ApiResponse>(document, response as ApiResponse);
  const ownErrors = errorRows(document, operation, (error) => !isCommon(error));
  return [
    `## ${summary}`,
    code(`${method.toUpperCase()} ${path}`),
    description,
    ...(parameters ? ['### Parameters', parameterTable(parameters)] : []),
    ...(requestBody
      ? [
          requestBody.required ? '### Body' : '### Body (optional)',
          ...bodyText(document, requestBody.content['application/json'], 'request'),
        ]
      : []),
    `### Answer ${status}`,
    ...answerText(document, answer),
    ...(ownErrors.length > 0 ? ['### Errors', errorTable(ownErrors)] : []),
  ];
}

function answerText(document: OpenApiDocument, { description, content = {} }: ApiResponse): string[] {
  const { 'application/json': json, 'text/event-stream': stream } = content;
  if (json) return bodyText(document, json, 'answer');
  return [description, ...(stream ? [`\`\`\`text example\n${stream.example}\n\`\`\``] : ['It has no body.'])];
}

function describeEvent(document: OpenApiDocument, name: string, { description, requestBody }: Webhook): string[] {
  const body = requestBody?.content['application/json'];
  return [
    `### ${name}`,
    description.replace(/ For sending and verification.*/, ''),
    ...(body ? bodyText(document, body, 'event') : []),
  ];
}

type Use = 'request' | 'answer' | 'event';

/** The fields of a body, and its examples. */
function bodyText(document: OpenApiDocument, { schema, example, examples = {} }: Media, use: Use): string[] {
  const name = schema.$ref?.replace(/^.*\//, '');
  const shown = example ? [example] : Object.values(examples).map(({ value }) => value);
  return [
    table(['field', 'type', 'meaning'], fieldRows(document, schema, use)),
    ...shown.map(
      (value) => `\`\`\`json ${use === 'request' ? 'schema' : 'answer'}=${name}\n${jsonText(value as object)}\n\`\`\``,
    ),
  ];
}

function fieldRows(document: OpenApiDocument, given: JsonSchema, use: Use, prefix = ''): string[][] {
  const schema = objectIn(document, given);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    const described = resolve<JsonSchema>(document, property);
    const presence = use === 'request' ? (isRequired ? ', required' : '') : isRequired ? '' : ', optional';
    const path = prefix + name;
    const description = property.description ?? described.description ?? '';
    const row = [
      code(path),
      typeText(document, described) + presence,
      [description, ...rules(described)].join(' ').trim(),
    ];
    const inside = described.items ? `${path}[].` : `${path}.`;
    return [row, ...fieldRows(document, described.items ?? described, use, inside)];
  });
}

/** The schema whose properties to list: the target of a reference, or the object in `object or null`. */
function objectIn(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const described = resolve<JsonSchema>(document, schema);
  const members = described.anyOf?.map((member) => resolve<JsonSchema>(document, member)) ?? [];
  const objects = members.filter(({ properties }) => properties);
  // A schema with several alternatives, such as the events, is shown in sections of its own.
  return objects.length === 1 ? (objects[0] as JsonSchema) : described;
}

function typeText(document: OpenApiDocument, schema: JsonSchema): string {
  const { type, anyOf, items } = schema;
  if (anyOf) return [...new Set(anyOf.map((member) => typeText(document, resolve(document, member))))].join(' or ');
  if (items) return `list of ${typeText(document, resolve(document, items))}s`;
  // The page's introduction explains `null` for optional fields, so it is not repeated here.
  return [type]
    .flat()
    .filter((one) => one !== 'null' || type === 'null')
    .join(' or ');
}

/** The constraints of a schema, as sentences. */
function rules(schema: JsonSchema): string[] {
  const { enum: members, const: only, minimum, maximum, exclusiveMinimum, maxLength, maxProperties } = schema;
  const { default: fallback } = schema;
  const isBounded = (limit?: number) => limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  const texts: string[] = [];
  if (only !== undefined && only !== true) texts.push(`Always ${code(String(only))}.`);
  if (members) {
    const values = members.filter((member) => member !== null).map((member) => code(String(member)));
    texts.push(`One of ${values.join(', ')}.`);
  }
  if (isBounded(minimum) && isBounded(maximum)) texts.push(`${number(minimum)} to ${number(maximum)}.`);
  else if (isBounded(minimum)) texts.push(minimum === 1 ? 'At least 1.' : `${minimum} or more.`);
  else if (isBounded(maximum)) texts.push(`At most ${maximum}.`);
  if (exclusiveMinimum !== undefined) texts.push(`Above ${exclusiveMinimum}.`);
  if (maxLength !== undefined) texts.push(`At most ${number(maxLength)} characters.`);
  if (maxProperties !== undefined) texts.push(`At most ${maxProperties} entries.`);
  if (fallback !== undefined) texts.push(`Default ${code(String(fallback))}.`);
  return texts;
}

const parameterTable = (parameters: readonly Parameter[]): string =>
  table(
    ['parameter', 'in', 'meaning'],
    parameters.map(({ name, in: where, required, schema, description = '' }) => [
      code(name),
      where + (required || where === 'path' ? '' : ', optional'),
      [description, ...rules(schema)].join(' '),
    ]),
  );

/** A row for each error of an operation. */
function errorRows(
  document: OpenApiDocument,
  { responses }: PathOperation,
  isShown: (error: string) => boolean,
): string[][] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const { description, content } = resolve<ApiResponse>(document, response as ApiResponse);
    const causes = description.split('\n\n');
    // Skips the additional texts of an error, whose names end with a number.
    const errors = Object.entries(content?.['application/json']?.examples ?? {}).filter(([name]) => !/-\d$/.test(name));
    return errors.flatMap(([name, { value }], index) =>
      isShown(name) ? [[status, code(name), code((value as { error: string }).error), causes[index] ?? '']] : [],
    );
  });
}

const errorTable = (rows: readonly string[][]): string => table(['status', 'code', 'text', 'when'], rows);

/** The headers that responses describe themselves, not by a reference to a component. */
function ownHeaders(document: OpenApiDocument, operations: readonly OperationEntry[]): Record<string, Header> {
  const answers = operations.flatMap(({ operation }) => Object.values(operation.responses));
  const headers = answers.flatMap((answer) =>
    Object.entries(resolve<ApiResponse>(document, answer as ApiResponse).headers ?? {}),
  );
  return Object.fromEntries(headers.filter((entry): entry is [string, Header] => !('$ref' in entry[1])));
}

/** The statuses of the responses that have a header. */
function statusesWith(document: OpenApiDocument, operations: readonly OperationEntry[], header: string): string {
  const answers = operations.flatMap(({ operation }) => Object.entries(operation.responses));
  const matching = answers.filter(
    ([, answer]) => resolve<ApiResponse>(document, answer as ApiResponse).headers?.[header],
  );
  if (matching.length === answers.length) return 'every answer';
  return [...new Set(matching.map(([status]) => status))].sort().join(', ');
}

function resolve<T extends object>(document: OpenApiDocument, value: T | Ref): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const names = value.$ref.split('/').slice(1);
  return names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as T;
}

const number = (value = 0): string => value.toLocaleString('en-US');

/** JSON with an indent of two spaces; small objects stay on one line. */
function jsonText(value: object): string {
  return JSON.stringify(value, null, 2).replace(/\{\n\s+[^{}[\]]{1,140}?\n\s*\}/g, (object) => {
    const line = object.replace(/\s*\n\s*/g, ' ');
    return line.length <= 80 ? line : object;
  });
}
