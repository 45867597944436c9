import type { JsonSchema } from '../../shared/base/json-schema.ts';
import type { ApiResponse, OpenApiDocument, Parameter, PathOperation } from '../../web/docs/openapi-types.ts';

/** A parameter of the query or a header, which a method of a client takes as a named option. */
export interface ClientOption extends Parameter {
  /** The name of the option, such as `idempotencyKey` for `Idempotency-Key`. */
  option: string;
}

/** What a generator needs to write the method of an operation. */
export interface ClientOperation {
  id: string;
  summary: string;
  method: string;
  /** With placeholders, such as `/v1/rides/{rideId}`. */
  path: string;
  inPath: readonly Parameter[];
  options: readonly ClientOption[];
  body?: { schema: JsonSchema; isRequired: boolean };
  /** The schema of the JSON answer. Undefined if the answer is text. */
  answer?: JsonSchema;
  /** For a list in pages: the method that yields the items of all pages, and the field of a page that holds them. */
  pages?: { method: string; field: string; item: JsonSchema };
}

/** The operations of a document, in its order. Pure. */
export function clientOperations({ paths, components }: OpenApiDocument): ClientOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, summary, parameters = [], requestBody, responses } = operation;
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
      const answer = (success as ApiResponse | undefined)?.content?.['application/json']?.schema;
      const options = parameters.filter(({ in: place }) => place !== 'path');
      return {
        id: operationId,
        summary,
        method: method.toUpperCase(),
        path,
        inPath: parameters.filter(({ in: place }) => place === 'path'),
        options: options.map((parameter) => ({ ...parameter, option: optionName(parameter.name) })),
        ...(requestBody && {
          body: { schema: requestBody.content['application/json'].schema, isRequired: requestBody.required },
        }),
        answer,
        pages: answer && pagesOf(operation, components.schemas[nameOf(answer)] ?? answer),
      };
    }),
  );
}

/** A list in pages takes a `cursor`, and answers with the `nextCursor` and one array. */
function pagesOf({ operationId, parameters = [] }: PathOperation, { properties = {} }: JsonSchema) {
  if (!properties.nextCursor || !parameters.some(({ name }) => name === 'cursor')) return undefined;
  const [field, { items }] = Object.entries(properties).find(([, { type }]) => type === 'array') as [
    string,
    { items: JsonSchema },
  ];
  // `listRides` has `allRides`, and `retrieveStatement` has `allStatementLines`.
  const noun = operationId.replace(/^[a-z]+/, '');
  const method = operationId.startsWith('list')
    ? `all${noun}`
    : `all${noun}${field.replace(/^./, (letter) => letter.toUpperCase())}`;
  return { method, field, item: items };
}

/** The names of the schemas of all events, in the order of the document. */
export const receivedTypesOf = ({ webhooks }: OpenApiDocument): string[] =>
  Object.values(webhooks).map(({ post }) => nameOf(post.requestBody?.content['application/json'].schema ?? {}));

/** The same of the numbered events, which the event feed has too. */
export const eventTypesOf = (document: OpenApiDocument): string[] =>
  receivedTypesOf(document).filter((name) => document.components.schemas[name]?.required?.includes('sequence'));

/** The codes of all errors in a document, sorted. */
export function errorCodesOf({ components, paths }: OpenApiDocument): string[] {
  const ofOperations = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses) as ApiResponse[]),
  );
  const headers = [...Object.values(components.responses), ...ofOperations].map(
    (response) => response.headers?.['X-Service-Error'],
  );
  const codes = headers.flatMap((header) => (header && 'schema' in header ? (header.schema.enum ?? []) : []));
  return [...new Set(codes as string[])].sort();
}

export const nameOf = ({ $ref = '' }: JsonSchema): string => $ref.replace(/^.*\//, '');

const optionName = (name: string): string =>
  name
    .replace(/^X-Service-/, '')
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
