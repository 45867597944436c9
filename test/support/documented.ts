import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { operations } from '../../api/operations.ts';
import { type ErrorCode, errorCodeHeader, errorCodes, publicErrorOf } from '../../shared/base/errors.ts';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { documentation } from '../../web/docs/documentation.ts';
import type { ApiResponse, OpenApiDocument, PathOperation } from '../../web/docs/openapi-types.ts';

/** The documentation as it is served for `https://rides.example`, without the program that forwards events. */
export const docs = documentation(operations, { publicBaseUrl: 'https://rides.example' }, () => '');
/** The Markdown of a page of the documentation. */
export const docText = (name: string): string => docs.pages.find((page) => page.name === name)?.text ?? '';
/** The OpenAPI documents of partners and of drivers. */
export const { openApi } = docs;
export const openApiDocuments: readonly OpenApiDocument[] = Object.values(openApi);

/** The schemas of both documents. A test checks that a name has the same schema in both. */
export const documentedSchemas: Readonly<Record<string, JsonSchema>> = {
  ...openApi.partner.components.schemas,
  ...openApi.driver.components.schemas,
};

/** Resolves a reference to `#/components/...` of a document. */
export function resolved<T>(value: unknown, document: OpenApiDocument): T {
  const { $ref } = value as { $ref?: string };
  if (!$ref) return value as T;
  const names = $ref.split('/').slice(1);
  return names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as T;
}

/** Validates as a client that trusts the document does: objects may have additional fields. */
const open = formats.default(new Ajv2020({ strict: true, strictTypes: false, allErrors: false }));
/** Validates our own responses, in which every field must be documented. */
const closed = formats.default(new Ajv2020({ strict: true, strictTypes: false }));
const components = { schemas: documentedSchemas };
open.addVocabulary(['components']).addSchema({ $id: 'open', components });
closed.addVocabulary(['components']).addSchema({ $id: 'closed', components: withoutFurtherFields(components) });

function withoutFurtherFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFurtherFields);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inside]) => [key, withoutFurtherFields(inside)]);
  const isObjectSchema = (value as JsonSchema).type === 'object' && 'properties' in value;
  return { ...Object.fromEntries(entries), ...(isObjectSchema && { additionalProperties: false }) };
}

const validators = new Map<string, ValidateFunction>();

function validator(name: string, kind: 'open' | 'closed'): ValidateFunction {
  const id = `${kind}#/components/schemas/${name}`;
  const known = validators.get(id) ?? (kind === 'open' ? open : closed).compile({ $ref: id });
  validators.set(id, known);
  return known;
}

/** True if a value matches a named schema, as a client sees it. */
export const isValid = (name: string, value: unknown): boolean => validator(name, 'open')(value);

/** Describes how one of our own responses or events differs from its named schema. Undefined if it matches. */
export function schemaProblem(name: string, value: unknown): string | undefined {
  const validate = validator(name, 'closed');
  if (validate(value)) return undefined;
  const details = validate.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${name}: ${details?.join('; ')}`;
}

/** The schema to which a schema refers, or itself. */
export const schemaOf = (schema: JsonSchema): JsonSchema =>
  schema.$ref ? (documentedSchemas[schemaName(schema)] as JsonSchema) : schema;

export const schemaName = (schema: JsonSchema): string => schema.$ref?.replace(/^.*\//, '') ?? '';

/** The paths of all fields that a schema has: `offers[].driver.name`. */
export function fieldsOf(given: JsonSchema, prefix = ''): string[] {
  const { properties = {}, items, anyOf = [] } = schemaOf(given);
  return [
    ...Object.entries(properties).flatMap(([name, inside]) => [
      prefix + name,
      ...fieldsOf(inside, `${prefix}${name}.`),
    ]),
    ...(items ? fieldsOf(items, prefix.replace(/\.$/, '[].')) : []),
    ...anyOf.flatMap((member) => fieldsOf(member, prefix)),
  ];
}

/** The paths of the fields that a value has, without the partner's own names in `metadata`. */
export function fieldsIn(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldsIn(one, prefix.replace(/\.$/, '[].')));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    prefix + name,
    ...(name === 'metadata' ? [] : fieldsIn(inside, `${prefix}${name}.`)),
  ]);
}

interface Answered {
  method: string;
  /** The path and query of the request. */
  target: string;
  status: number;
  header(name: string): string | null;
  headerNames: readonly string[];
  /** Undefined for a response without a body. */
  body: unknown;
}

/** Describes how a response under a documented base differs from the document. Undefined if it matches. */
export function documentProblem(answered: Answered): string | undefined {
  const path = answered.target.replace(/[?#].*$/s, '').replace(/^\/api\/v1(?=\/|$)/, '/v1');
  if (!/^(\/drivers)?\/v1(\/|$)/.test(path)) return undefined;
  const method = answered.method === 'HEAD' ? 'get' : answered.method.toLowerCase();
  const operation = operationAt(method, path);
  const problem = operation ? operationProblem(answered, ...operation) : unknownProblem(answered);
  return problem && `${answered.method} ${path} answered ${answered.status}: ${problem}`;
}

const templates = openApiDocuments.flatMap((document) =>
  Object.entries(document.paths).map(([template, operations]) => ({
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
    operations,
    document,
  })),
);

/** The operation at a path, and the document that describes it. */
function operationAt(method: string, path: string): [PathOperation, OpenApiDocument] | undefined {
  const found = templates.find(({ pattern }) => pattern.test(path));
  const operation = found?.operations[method];
  return operation && [operation, found.document];
}

function operationProblem(answered: Answered, operation: PathOperation, document: OpenApiDocument): string | undefined {
  const response = operation.responses[answered.status];
  if (!response) return 'the status is not documented';
  const { headers = {}, content } = resolved<ApiResponse>(response, document);
  return (
    headersProblem(answered, headers, document) ??
    (answered.method === 'HEAD' || content?.['text/csv']
      ? undefined
      : bodyProblem(answered, content?.['application/json']))
  );
}

const unknownStatuses = [400, 401, 403, 404, 405, 408, 431, 500, 503];

/** Checks the response for a path or method that the document does not have. */
function unknownProblem({ status, body, method, header }: Answered): string | undefined {
  if (!unknownStatuses.includes(status)) return 'the operation is not documented';
  const code = header(errorCodeHeader) as ErrorCode;
  if (!errorCodes.includes(code) || publicErrorOf(code).status !== status) return `the code ${code}`;
  return method === 'HEAD' ? undefined : schemaProblem('ErrorBody', body);
}

type Content = NonNullable<ApiResponse['content']>['application/json'];

function bodyProblem({ status, body, header }: Answered, content?: Content): string | undefined {
  if (!content) return body === undefined ? undefined : 'a body that is not documented';
  const problem = schemaProblem(schemaName(content.schema), body);
  // Only the text of a 400 varies: it names the fault of the request.
  if (problem || status <= 400) return problem;
  // An example is named after its code. Further texts of the same code have a number.
  const code = header(errorCodeHeader) ?? '';
  const ofCode = Object.entries(content.examples ?? {}).filter(([name]) => name.replace(/-\d+$/, '') === code);
  const texts = ofCode.map(([, { value }]) => (value as { error: string }).error);
  const { error } = body as { error: string };
  // The text of a 429 continues with the exceeded limit, which may depend on a setting.
  const isNamed = status === 429 && texts.some((text) => error.startsWith(`${text}: at most `));
  return isNamed || texts.includes(error) ? undefined : `the text "${error}" is not documented for the code ${code}`;
}

/** These headers are on every response of the service, and the document does not list them. */
const general = new Set(['x-content-type-options', 'x-frame-options', 'x-powered-by', 'x-accel-buffering']);
const isOurs = (name: string): boolean => /^(x-|ratelimit|retry-after|www-authenticate)/.test(name);

function headersProblem(
  { header, headerNames }: Answered,
  documented: object,
  document: OpenApiDocument,
): string | undefined {
  const names = Object.keys(documented);
  const further = headerNames.filter(
    (name) => isOurs(name) && !general.has(name) && !names.some((known) => known.toLowerCase() === name),
  );
  if (further.length > 0) return `the header ${further[0]} is not documented`;
  for (const name of names) {
    const { required, schema } = resolved<{ required?: boolean; schema: JsonSchema }>(
      (documented as Record<string, unknown>)[name],
      document,
    );
    const value = header(name);
    if (value === null && required) return `the header ${name} is missing`;
    const isRight = open.compile(schema);
    if (value !== null && !isRight(schema.type === 'integer' ? Number(value) : value)) return `${name}: ${value}`;
  }
  return undefined;
}
