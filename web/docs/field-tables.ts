import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { code, table } from './markdown.ts';
import type { ApiResponse, Media, OpenApiDocument, Parameter, PathOperation, Ref } from './openapi-types.ts';

/** The tables of the reference as Markdown, generated from the OpenAPI document. */

/** The table of a request marks required fields, the others mark optional ones. */
export type Use = 'request' | 'answer' | 'event';

/** The fields of a body. */
export const fieldTable = (document: OpenApiDocument, { schema }: Media, use: Use): string =>
  table(['field', 'type', 'meaning'], fieldRows(document, schema, use));

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
      [description, ...constraintTexts(described, use)].join(' ').trim(),
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
  const { type, anyOf, items, enum: members } = schema;
  if (anyOf) return [...new Set(anyOf.map((member) => typeText(document, resolve(document, member))))].join(' or ');
  if (items) return `list of ${typeText(document, resolve(document, items))}s`;
  if (!type && members)
    return [...new Set(members.map((member) => (member === null ? 'null' : typeof member)))].join(' or ');
  // The page's introduction explains `null` for optional fields, so it is not repeated here.
  return [type]
    .flat()
    .filter((one) => one !== 'null' || type === 'null')
    .join(' or ');
}

/** The constraints of a schema, as sentences. The limits of numbers matter only in requests. */
function constraintTexts(schema: JsonSchema, use: Use): string[] {
  const { enum: members, const: only, minimum, maximum, exclusiveMinimum, maxLength } = schema;
  const { maxProperties, maxItems, default: fallback } = schema;
  const isBounded = (limit?: number) =>
    use === 'request' && limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  const texts: string[] = [];
  if (only !== undefined && only !== true) texts.push(`Always ${code(String(only))}.`);
  if (members) {
    const values = members.filter((member) => member !== null).map((member) => code(String(member)));
    texts.push(`One of ${values.join(', ')}.`);
  }
  if (isBounded(minimum) && isBounded(maximum)) texts.push(`${number(minimum)} to ${number(maximum)}.`);
  else if (isBounded(minimum)) texts.push(minimum === 1 ? 'At least 1.' : `${minimum} or more.`);
  if (exclusiveMinimum !== undefined && use === 'request') texts.push(`Above ${exclusiveMinimum}.`);
  if (!isBounded(minimum) && isBounded(maximum)) texts.push(`At most ${number(maximum)}.`);
  if (maxLength !== undefined) texts.push(`At most ${number(maxLength)} characters.`);
  const mostEntries = maxProperties ?? maxItems;
  if (mostEntries !== undefined) texts.push(`At most ${mostEntries} entries.`);
  if (fallback !== undefined) texts.push(`Default ${code(String(fallback))}.`);
  return texts;
}

const exampleText = ({ examples: [example] = [] }: JsonSchema): string[] =>
  example === undefined ? [] : [`Example: ${code(String(example))}.`];

/** The parameters of a request. */
export const parameterTable = (parameters: readonly Parameter[], use: Use = 'request'): string =>
  table(
    ['parameter', 'in', 'meaning'],
    parameters.map(({ name, in: where, required, schema, description = '' }) => [
      code(name),
      where + (required || where === 'path' ? '' : ', optional'),
      [description, ...constraintTexts(schema, use), ...exampleText(schema)].join(' ').trim(),
    ]),
  );

/** A row for each error of an operation. */
export function errorRows(
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

export const errorTable = (rows: readonly string[][]): string => table(['status', 'code', 'text', 'when'], rows);

export function resolve<T extends object>(document: OpenApiDocument, value: T | Ref): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const names = value.$ref.split('/').slice(1);
  return names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as T;
}

const number = (value = 0): string => value.toLocaleString('en-US');
