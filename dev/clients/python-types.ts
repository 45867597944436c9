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

import typing
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Optional, TypedDict, Union
from urllib.parse import quote

from .call import Caller

if TYPE_CHECKING:
    # Type checkers know this package, which need not be installed.
    from typing_extensions import NotRequired
else:
    # Only from Python 3.11 on.
    NotRequired = getattr(typing, "NotRequired", Optional)

ErrorCode = Literal[
${errorCodesOf(document)
  .map((code) => `    "${code}",`)
  .join('\n')}
]
${clientTypes(document).map(definitionOf).join('\n')}

RideEvent = Union[${eventTypesOf(document).join(', ')}]
ReceivedEvent = Union[${receivedTypesOf(document).join(', ')}]


class Operations(Caller):
    """A method for each operation of the API.

    \`try_seconds\` says how long a call is tried while the service does not answer or asks to
    wait. Without it, the setting of the client applies.
    """

${methods.join('\n\n')}


def _quote(value: Any) -> str:
    return quote(str(value), safe="")
`.replace(/\n{4,}/g, '\n\n\n');
}

/** A class is between two empty lines. Other definitions have a line each. */
function definitionOf({ name, schema, base = 'TypedDict', fields }: ClientType): string {
  if (!fields) return `${name} = ${typeOf(schema)}`;
  // A class cannot have a field that is named like a keyword.
  if (fields.some(({ field }) => keywords.has(field))) {
    const entries = fields.map((field) => `"${field.field}": ${literal(fieldType(field))}`);
    return `${name} = TypedDict("${name}", {${entries.join(', ')}})`;
  }
  const rows = fields.flatMap((field) => [
    `    ${field.field}: ${fieldType(field)}`,
    ...(field.schema.description ? [`    ${docstring(field.schema.description)}`] : []),
  ]);
  const about = schema.description ? [`    ${docstring(schema.description)}`, ''] : [];
  return `\n\n${[`class ${name}(${base}):`, ...about, ...rows].join('\n')}\n\n`;
}

const fieldType = ({ schema, isRequired }: ClientField): string =>
  isRequired ? typeOf(schema) : `NotRequired[${typeOf(schema)}]`;

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
