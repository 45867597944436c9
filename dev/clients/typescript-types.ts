import type { JsonSchema } from '../../shared/base/json-schema.ts';
import type { OpenApiDocument } from '../../web/docs/openapi-types.ts';
import {
  type ClientOperation,
  clientOperations,
  errorCodesOf,
  eventTypesOf,
  nameOf,
  receivedTypesOf,
} from './client-operations.ts';
import { type ClientField, type ClientType, clientTypes } from './client-types.ts';

/** The types of the TypeScript client, and a class with a method for each operation. Pure. */
export function typescriptTypes(document: OpenApiDocument): string {
  const operations = clientOperations(document);
  const union = (names: readonly string[]) => `= ${names.join(' | ')};`;
  return [
    '// `npm run clients:types` writes this file from the OpenAPI document.',
    "import { randomUUID } from 'node:crypto';\nimport type { Call, CallOptions } from './call.ts';\n",
    ...clientTypes(document).map(typeText),
    `\n/** The codes of errors. New codes may be added. */\nexport type ErrorCode =\n${errorCodesOf(document)
      .map((code) => `  | '${code}'`)
      .join('\n')}\n  | (string & {});\n`,
    `/** The body of an event that has a number. */\nexport type RideEvent ${union(eventTypesOf(document))}\n`,
    `/** The body of a request to a receiver. */\nexport type ReceivedEvent ${union(receivedTypesOf(document))}\n`,
    ...operations.flatMap(optionsType),
    `/** A method for each operation of the API. */\nexport abstract class Operations {\n${indent(
      [
        'protected abstract send<Answer>(call: Call, options: CallOptions): Promise<Answer>;',
        ...operations.flatMap((operation) => [methodOf(operation), ...pagesOf(operation)]),
      ].join('\n\n'),
    )}\n}\n`,
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
}

/** An object is between empty lines. Other types have a line each. */
function typeText({ name, schema, base, fields }: ClientType): string {
  const about = comment(schema.description);
  if (!fields) return `${about}export type ${name} = ${typeOf(schema)};`;
  return `\n${about}export type ${name} = ${base ? `${base} & ` : ''}${objectText(fields)};\n`;
}

const objectText = (fields: readonly ClientField[]): string =>
  `{\n${indent(
    fields
      .map(
        ({ field, isRequired, schema }) =>
          `${comment(schema.description)}${field}${isRequired ? '' : '?'}: ${typeOf(schema)};`,
      )
      .join('\n'),
  )}\n}`;

function methodOf(operation: ClientOperation): string {
  const { id, summary, method, path, body, options, answer } = operation;
  const parts = (place: string) =>
    options
      .filter((one) => one.in === place)
      .map(({ name, option }) =>
        name === 'Idempotency-Key'
          ? `'${name}': options.${option} ?? randomUUID()`
          : `${name === option ? name : `'${name}'`}: options.${option}`,
      );
  const [query, headers] = [parts('query'), parts('header')];
  const call = [
    `method: '${method}'`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the client.
    `path: \`${path.replace(/\{(\w+)\}/g, '${encodeURIComponent($1)}')}\``,
    ...(query.length > 0 ? [`query: { ${query.join(', ')} }`] : []),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body ? ['body'] : []),
  ];
  const parameters = [
    ...pathParameters(operation),
    ...(body ? [`body: ${typeOf(body.schema)}${body.isRequired ? '' : ' = {}'}`] : []),
    optionsParameter(operation),
  ];
  return `/** ${summary}. */
${id}(${parameters.join(', ')}): Promise<${answer ? typeOf(answer) : 'string'}> {
  return this.send({ ${call.join(', ')} }, options);
}`;
}

function pagesOf(operation: ClientOperation): string[] {
  const { id, inPath, pages } = operation;
  if (!pages) return [];
  const given = [...inPath.map(({ name }) => name), '{ ...options, cursor }'];
  const parameters = [...pathParameters(operation), optionsParameter(operation)].join(', ');
  return [
    `/** Yields the ${pages.field} of \`${id}\`, page after page. */
async *${pages.method}(${parameters}): AsyncGenerator<${typeOf(pages.item)}> {
  let { cursor } = options;
  do {
    const page = await this.${id}(${given.join(', ')});
    yield* page.${pages.field};
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}`,
  ];
}

const pathParameters = ({ inPath }: ClientOperation): string[] =>
  inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`);

const optionsParameter = (operation: ClientOperation): string =>
  `options: ${optionsName(operation)}${operation.options.some(({ required }) => required) ? '' : ' = {}'}`;

const optionsName = ({ id, options }: ClientOperation): string =>
  options.length === 0 ? 'CallOptions' : `${id.replace(/^\w/, (letter) => letter.toUpperCase())}Options`;

function optionsType(operation: ClientOperation): string[] {
  if (operation.options.length === 0) return [];
  const fields = operation.options.map(({ option, required, description, schema }) => ({
    field: option,
    isRequired: required,
    schema: { ...schema, description },
  }));
  return [`export type ${optionsName(operation)} = CallOptions & ${objectText(fields)};\n`];
}

function typeOf(schema: JsonSchema): string {
  const { $ref, const: only, enum: members, anyOf, type, items, additionalProperties } = schema;
  if ($ref) return nameOf(schema);
  if (only !== undefined) return literal(only);
  if (members) return members.map(literal).join(' | ');
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  switch (type) {
    case 'array':
      return `Array<${typeOf(items ?? {})}>`;
    case 'object':
      return `Record<string, ${typeOf(additionalProperties ?? {})}>`;
    case 'integer':
      return 'number';
    case undefined:
      return 'unknown';
    default:
      return type as string;
  }
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
const comment = (text?: string): string => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');
const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');
