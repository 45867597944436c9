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

/** The types of the Python client, and a class with a method for each operation, for Python 3.9 and later. Pure. */
export function pythonTypes(document: OpenApiDocument): string {
  const methods = clientOperations(document).flatMap((operation) => [methodOf(operation), ...pagesOf(operation)]);
  return `"""\`npm run clients:types\` writes this file from the OpenAPI document."""

from __future__ import annotations

import uuid
from typing import Any, Dict, Iterator, List, Literal, Mapping, Optional, TypedDict, Union
from urllib.parse import quote

ErrorCode = Literal[
${errorCodesOf(document)
  .map((code) => `    "${code}",`)
  .join('\n')}
]
${clientTypes(document).flatMap(definitionsOf).join('\n')}

RideEvent = Union[${eventTypesOf(document).join(', ')}]
ReceivedEvent = Union[${receivedTypesOf(document).join(', ')}]


class Operations:
    """A method for each operation of the API.

    \`try_seconds\` says how long a call is tried while the service does not answer or asks to
    wait. Without it, the setting of the client applies.
    """

    def _send(
        self,
        method: str,
        path: str,
        try_seconds: Optional[float],
        *,
        query: Mapping[str, Any] = {},
        headers: Mapping[str, Optional[str]] = {},
        body: Any = None,
    ) -> Any:
        raise NotImplementedError

${methods.join('\n\n')}


def _quote(value: Any) -> str:
    return quote(str(value), safe="")
`.replace(/\n{4,}/g, '\n\n\n');
}

/** The definition of a type. NotRequired needs Python 3.11, so the optional fields are in a class of their own. */
function definitionsOf({ name, schema, base = 'TypedDict', fields }: ClientType): string[] {
  if (!fields) return [`${name} = ${typeOf(schema)}`];
  const always = fields.filter(({ isRequired }) => isRequired);
  const sometimes = fields.filter(({ isRequired }) => !isRequired);
  const { description } = schema;
  if (fields.some(({ field }) => keywords.has(field))) {
    return [
      `\n${dictionary(`_${name}`, always)}`,
      dictionary(`_${name}Optional`, sometimes, ', total=False'),
      classText(name, `_${name}, _${name}Optional`, [], description ?? `${name}.`),
    ];
  }
  if (sometimes.length === 0) return [classText(name, base, always, description)];
  if (always.length === 0) return [classText(name, `${base}, total=False`, sometimes, description)];
  return [classText(`_${name}`, base, always), classText(name, `_${name}, total=False`, sometimes, description)];
}

/** A class cannot have a field that is named like a keyword, but this can. */
function dictionary(name: string, fields: readonly ClientField[], total = ''): string {
  const entries = fields.map(({ field, schema }) => `"${field}": ${literal(typeOf(schema))}`);
  return `${name} = TypedDict("${name}", {${entries.join(', ')}}${total})`;
}

/** A class is between two empty lines. Other definitions have a line each. */
function classText(name: string, base: string, fields: readonly ClientField[], about?: string): string {
  const rows = fields.flatMap(({ field, schema }) => [
    `    ${field}: ${typeOf(schema)}`,
    ...(schema.description ? [`    ${docstring(schema.description)}`] : []),
  ]);
  const lines = [`class ${name}(${base}):`, ...(about ? [`    ${docstring(about)}`, ''] : []), ...rows];
  return `\n\n${lines.join('\n')}\n\n`;
}

function typeOf(schema: JsonSchema): string {
  const { $ref, const: only, enum: members, anyOf, type, items, additionalProperties } = schema;
  if ($ref) return nameOf(schema);
  if (only !== undefined) return `Literal[${literal(only)}]`;
  if (members) return `Literal[${members.map(literal).join(', ')}]`;
  if (anyOf) return union(anyOf.map(typeOf));
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  if (type === 'array') return `List[${typeOf(items ?? {})}]`;
  if (type === 'object') return `Dict[str, ${typeOf(additionalProperties ?? {})}]`;
  return primitives[type as string] ?? 'Any';
}

const primitives: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
};

function methodOf(operation: ClientOperation): string {
  const { id, summary, method, path, inPath, body, options, answer } = operation;
  const parts = (place: string) =>
    options
      .filter((one) => one.in === place)
      .map(({ name, option }) =>
        name === 'Idempotency-Key'
          ? `"${name}": ${variable(option)} or str(uuid.uuid4())`
          : `"${name}": ${variable(option)}`,
      );
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => `{_quote(${variable(name)})}`);
  const sent = [
    `"${method}"`,
    inPath.length > 0 ? `f"${target}"` : `"${target}"`,
    'try_seconds',
    ...(parts('query').length > 0 ? [`query={${parts('query').join(', ')}}`] : []),
    ...(parts('header').length > 0 ? [`headers={${parts('header').join(', ')}}`] : []),
    ...(body ? [body.isRequired ? 'body=body' : 'body=body or {}'] : []),
  ];
  const parameters = [
    'self',
    ...pathParameters(operation),
    ...(body ? [bodyParameter(body)] : []),
    ...optionsOf(operation),
  ];
  const shown = answer ? typeOf(answer) : 'str';
  return `    def ${variable(id)}(${parameters.join(', ')}) -> ${shown}:
        """${summary}."""
        answer: ${shown} = self._send(${sent.join(', ')})
        return answer`;
}

function pagesOf(operation: ClientOperation): string[] {
  const { id, inPath, pages, options } = operation;
  if (!pages) return [];
  const given = [
    ...inPath.map(({ name }) => variable(name)),
    ...options.map(({ option }) => `${variable(option)}=${variable(option)}`),
    'try_seconds=try_seconds',
  ];
  const parameters = ['self', ...pathParameters(operation), ...optionsOf(operation)];
  return [
    `    def ${variable(pages.method)}(${parameters.join(', ')}) -> Iterator[${typeOf(pages.item)}]:
        """Yield the ${pages.field} of \`${variable(id)}\`, page after page."""
        while True:
            page = self.${variable(id)}(${given.join(', ')})
            yield from page["${pages.field}"]
            cursor = page["nextCursor"]
            if cursor is None:
                return`,
  ];
}

const pathParameters = ({ inPath }: ClientOperation): string[] =>
  inPath.map(({ name, schema }) => `${variable(name)}: ${typeOf(schema)}`);

const bodyParameter = ({ schema, isRequired }: NonNullable<ClientOperation['body']>): string =>
  isRequired ? `body: ${typeOf(schema)}` : `body: Optional[${typeOf(schema)}] = None`;

const optionsOf = ({ options }: ClientOperation): string[] => [
  '*',
  ...options.map(({ option, required, schema }) =>
    required ? `${variable(option)}: ${typeOf(schema)}` : `${variable(option)}: Optional[${typeOf(schema)}] = None`,
  ),
  'try_seconds: Optional[float] = None',
];

/** The names that Python keeps for itself and that a field or a parameter may have. */
const keywords = new Set(['from', 'class', 'global', 'import', 'in', 'is', 'not', 'or', 'pass', 'return', 'with']);

function variable(name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return keywords.has(snake) ? `${snake}_` : snake;
}

const union = (types: string[]): string => {
  const others = types.filter((type) => type !== 'None');
  const joined = others.length > 1 ? `Union[${others.join(', ')}]` : (others[0] ?? 'None');
  return others.length < types.length && others.length > 0 ? `Optional[${joined}]` : joined;
};

const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
const docstring = (text: string): string => `"""${text.replaceAll('\\', '\\\\').replace(/"$/, '" ')}"""`;
