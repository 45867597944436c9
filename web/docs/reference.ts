import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { eventPageName, operationPageName, overviewPages } from './docs-pages.ts';
import { type Audience, commonErrors } from './error-answers.ts';
import { eventSampleBlocks } from './event-samples.ts';
import { errorRows, errorTable, fieldTable, parameterTable, resolve } from './field-tables.ts';
import { jsonText } from './literals.ts';
import { code, table } from './markdown.ts';
import type {
  ApiResponse,
  Header,
  Media,
  OpenApiDocument,
  Parameter,
  PathOperation,
  Webhook,
} from './openapi-types.ts';
import { keyVariables, sampleBlocks } from './samples.ts';

/**
 * The pages of the partners' reference, in Markdown, by name: an overview, and a page for each operation and each event.
 * They are made from the partners' OpenAPI document with inline enums.
 */
export function partnersReference(document: OpenApiDocument): Map<string, string> {
  const { servers, info, webhooks } = document;
  const operations = operationsOf(document, 'partner');
  const overview = [
    '# API reference',
    'Every operation and event. Also available as an [OpenAPI 3.1 document](openapi.json), from which tools generate [typed clients](typed-client.md), and as a [Postman collection](postman.json).',
    `Version ${info.version} ([changelog](changelog.md)), at \`${servers[0]?.url}\`. Each request needs a [key](authentication.md).`,
    'Types are strict: `"5"` is not a number. In a body, `null` for an optional field counts as absent. We ignore unknown fields in requests; ignore unknown fields in answers and events.',
    ...operationTables(document, operations),
    '## Events',
    'The requests that we send to your webhook URL. For sending and verification, see [Webhooks](webhooks.md).',
    table(
      ['event', 'sent when'],
      Object.entries(webhooks).map(([name, { post }]) => [
        `[${code(name)}](${eventPageName(name)}.md)`,
        eventText(post),
      ]),
    ),
    '### Headers of every event',
    headerTable(Object.values(webhooks)[0]?.post.parameters ?? []),
    ...commonParts(
      document,
      operations,
      'Every operation can have these errors in addition to its own. [Errors](errors.md) explains what to do about them.',
    ),
  ];
  return new Map([
    ['reference', joined(overview)],
    ...operations.map((operation) => operationPage(document, operation)),
    ...Object.entries(webhooks).map(([name, { post }]): [string, string] => [
      eventPageName(name),
      eventPageText(document, name, post),
    ]),
  ]);
}

/** The same for drivers, from the drivers' OpenAPI document. */
export function driversReference(document: OpenApiDocument): Map<string, string> {
  const operations = operationsOf(document, 'driver');
  const overview = [
    "# Drivers' reference",
    "Every operation of the [drivers' gateway](drivers.md). Also available as an [OpenAPI 3.1 document](drivers-openapi.json) and as a [Postman collection](drivers-postman.json).",
    `At \`${document.servers[0]?.url}\`. Each request needs a driver's key: \`Authorization: Bearer svc_driver_...\`, or \`X-Api-Key\`.`,
    'Types are strict: `"5"` is not a number. In a body, `null` for an optional field counts as absent. We ignore unknown fields in requests; ignore unknown fields in answers.',
    ...operationTables(document, operations),
    ...commonParts(document, operations, 'Every operation can have these errors in addition to its own.'),
  ];
  return new Map([
    ['drivers-reference', joined(overview)],
    ...operations.map((operation) => operationPage(document, operation)),
  ]);
}

const joined = (parts: readonly string[]): string => parts.join('\n\n');

interface OperationEntry {
  method: string;
  path: string;
  operation: PathOperation;
  audience: Audience;
  page: string;
}

const operationsOf = ({ paths }: OpenApiDocument, audience: Audience): OperationEntry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method, path, operation, audience },
      page: operationPageName(audience, operation.operationId),
    })),
  );

/** A table of operations for each tag. */
const operationTables = (document: OpenApiDocument, operations: readonly OperationEntry[]): string[] =>
  document.tags.flatMap(({ name, description }) => {
    const rows = operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ method, path, operation, page }) => [
        `[${operation.summary}](${page}.md)`,
        code(`${method.toUpperCase()} ${path}`),
      ]);
    return rows.length === 0 ? [] : [`## ${name}`, description, table(['operation', 'request'], rows)];
  });

/** The headers of events. */
const headerTable = (parameters: readonly Parameter[]): string =>
  table(
    ['header', 'on', 'meaning'],
    parameters.map(({ name, required, description = '' }) => [
      code(name),
      required ? 'every event' : 'some events',
      description,
    ]),
  );

/** The page of an operation: parameters, body, answer and errors, then a sample request in each language and its answer. */
function operationPage(document: OpenApiDocument, entry: OperationEntry): [string, string] {
  const { method, path, operation, audience, page } = entry;
  const { summary, description, parameters, requestBody, responses } = operation;
  const [status = '', response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const answer = resolve<ApiResponse>(document, response as ApiResponse);
  const body = requestBody?.content['application/json'];
  const ownErrors = errorRows(document, operation, (error) => !isCommon(error));
  const [lead = '', ...more] = description.split('\n\n');
  const text = joined([
    `# ${summary}`,
    lead,
    code(`${method.toUpperCase()} ${path}`),
    ...more,
    ...(parameters ? ['## Parameters', parameterTable(parameters)] : []),
    ...(body ? [requestBody.required ? '## Body' : '## Body (optional)', fieldTable(document, body, 'request')] : []),
    `## Answer ${status}`,
    ...answerText(document, answer),
    '## Errors',
    ...(ownErrors.length > 0 ? [errorTable(ownErrors)] : []),
    `${ownErrors.length > 0 ? 'And those' : 'Only those'} [of every operation](${overviewPages[audience]}.md#errors-of-every-operation).`,
    `## ${exampleTitle}`,
    `Your [key](${audience === 'driver' ? 'drivers' : 'authentication'}.md) is in the environment variable ${code(keyVariables[audience])}.`,
    ...sampleBlocks(`${document.servers[0]?.url}${path}`, method, operation, audience),
    ...answerExample(answer),
    ...(body ? furtherExamples(body) : []),
  ]);
  return [page, text];
}

/** The section that is shown beside the others. */
export const exampleTitle = 'Example';

function answerText(document: OpenApiDocument, { description, content = {} }: ApiResponse): string[] {
  const { 'application/json': json, 'text/event-stream': stream } = content;
  if (json) return [description, fieldTable(document, json, 'answer')];
  return [description, ...(stream ? [] : ['It has no body.'])];
}

function answerExample({ content = {} }: ApiResponse): string[] {
  const { 'application/json': json, 'text/event-stream': stream } = content;
  if (stream) return [`\`\`\`text output\n${String(stream.example).trim()}\n\`\`\``];
  return json ? [answerBlock(json)] : [];
}

/** The samples contain the first example of a body. */
const furtherExamples = ({ schema, examples = {} }: Media): string[] =>
  Object.values(examples)
    .slice(1)
    .flatMap(({ summary, value }) => [`Another body: ${summary?.toLowerCase()}.`, jsonBlock(schema, value, 'schema')]);

const answerBlock = ({ schema, example }: Media): string => jsonBlock(schema, example as object, 'answer');

const jsonBlock = ({ $ref }: JsonSchema, value: object, mark: 'schema' | 'answer'): string =>
  `\`\`\`json ${mark}=${$ref?.replace(/^.*\//, '')}\n${jsonText(value)}\n\`\`\``;

const eventText = ({ description }: Webhook): string => description.replace(/ For sending and verification.*/, '');

function eventPageText(document: OpenApiDocument, name: string, webhook: Webhook): string {
  const body = webhook.requestBody?.content['application/json'] as Media;
  return joined([
    `# ${name}`,
    eventText(webhook),
    'A signed `POST` to your webhook URL, with [these headers](reference.md#headers-of-every-event). [Webhooks](webhooks.md) explains how to receive and verify it.',
    '## Body',
    fieldTable(document, body, 'event'),
    `## ${exampleTitle}`,
    jsonBlock(body.schema, body.example as object, 'answer').replace(/answer=\S+/, `event=${name}`),
    'The programs in TypeScript and Python receive this event. They need the [verifier](webhooks.md#verify-the-signature) in the same folder, and your signing secret in the environment variable `SECRET`. The commands with curl send the event to such a program on your machine, signed like ours.',
    ...eventSampleBlocks(name, body.example as object, webhook.parameters ?? []),
  ]);
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
