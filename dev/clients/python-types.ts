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

/** The types of the Python client, and a class with a method for each operation, for Python 3.9 and later. Pure. */
export function pythonTypes(document: OpenApiDocument): string {
  const types = new PythonTypes();
  for (const [name, schema] of Object.entries(document.components.schemas)) types.define(name, schema);
  const methods = clientOperations(document).flatMap((operation) => [
    methodOf(operation, types),
    ...pagesOf(operation, types),
  ]);
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

${types.definitions.join('\n\n\n')}


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
        *,
        query: Mapping[str, Any] = {},
        headers: Mapping[str, Optional[str]] = {},
        body: Any = None,
        try_seconds: Optional[float] = None,
    ) -> Any:
        raise NotImplementedError

${methods.join('\n\n')}
`;
}

interface Field {
  field: string;
  type: string;
  about?: string;
}

/** Collects the definitions of types. An object inside another one gets a name of its own. */
class PythonTypes {
  readonly definitions: string[] = [];

  define(name: string, schema: JsonSchema): void {
    if (schema.type !== 'object' || !schema.properties) {
      this.definitions.push(`${name} = ${this.typeOf(schema, name)}`);
      return;
    }
    const { properties, required = [], description } = schema;
    const isRequired = (field: string) => required.includes(field);
    const fields = Object.entries(properties).map(([field, inside]) => ({
      field,
      type: this.typeOf(inside, name + field.replace(/^\w/, (letter) => letter.toUpperCase())),
      about: inside.description,
    }));
    const always = fields.filter(({ field }) => isRequired(field));
    const sometimes = fields.filter(({ field }) => !isRequired(field));
    if (fields.some(({ field }) => keywords.has(field))) {
      this.#withKeywords(name, always, sometimes, description);
      return;
    }
    // NotRequired needs Python 3.11, so the optional fields are in a class of their own.
    if (always.length > 0 && sometimes.length > 0) this.#class(`_${name}`, 'TypedDict', always);
    if (sometimes.length === 0) this.#class(name, 'TypedDict', always, description);
    else this.#class(name, `${always.length > 0 ? `_${name}` : 'TypedDict'}, total=False`, sometimes, description);
  }

  /** A class cannot have a field that is named like a keyword. */
  #withKeywords(name: string, always: Field[], sometimes: Field[], about?: string): void {
    const parts = [
      { part: `_${name}`, fields: always, total: '' },
      { part: `_${name}Optional`, fields: sometimes, total: ', total=False' },
    ];
    for (const { part, fields, total } of parts) {
      const entries = fields.map(({ field, type }) => `"${field}": ${literal(type)}`);
      this.definitions.push(`${part} = TypedDict("${part}", {${entries.join(', ')}}${total})`);
    }
    this.#class(name, parts.map(({ part }) => part).join(', '), [], about ?? `${name}.`);
  }

  #class(name: string, base: string, fields: Field[], about?: string): void {
    const rows = fields.map(({ field, type, about: text }) =>
      [`    ${field}: ${type}`, ...(text ? [`    ${docstring(text)}`] : [])].join('\n'),
    );
    this.definitions.push(
      [`class ${name}(${base}):`, ...(about ? [`    ${docstring(about)}`, ''] : []), ...rows].join('\n'),
    );
  }

  /** The type of a schema. `name` is that of a new class, if the schema is an object. */
  typeOf(schema: JsonSchema, name: string): string {
    const { $ref, const: only, enum: members, anyOf, type, items, properties, additionalProperties } = schema;
    if ($ref) return nameOf(schema);
    if (only !== undefined) return `Literal[${literal(only)}]`;
    if (members) return `Literal[${members.map(literal).join(', ')}]`;
    if (anyOf) return union(anyOf.map((one) => this.typeOf(one, name)));
    if (Array.isArray(type)) return union(type.map((one) => this.typeOf({ ...schema, type: one }, name)));
    switch (type) {
      case 'array':
        return `List[${this.typeOf(items ?? {}, `${name}Item`)}]`;
      case 'object':
        if (!properties) return `Dict[str, ${this.typeOf(additionalProperties ?? {}, `${name}Value`)}]`;
        this.define(name, schema);
        return name;
      default:
        return primitives[type as string] ?? 'Any';
    }
  }
}

const primitives: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
};

function methodOf(operation: ClientOperation, types: PythonTypes): string {
  const { id, summary, method, path, inPath, body, options, answer } = operation;
  const parts = (place: string) =>
    options
      .filter((one) => one.in === place)
      .map(({ name, option }) =>
        name === 'Idempotency-Key'
          ? `"${name}": ${variable(option)} or str(uuid.uuid4())`
          : `"${name}": ${variable(option)}`,
      );
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => `{quote(str(${variable(name)}), safe='')}`);
  const sent = [
    `"${method}"`,
    inPath.length > 0 ? `f"${target}"` : `"${target}"`,
    ...(parts('query').length > 0 ? [`query={${parts('query').join(', ')}}`] : []),
    ...(parts('header').length > 0 ? [`headers={${parts('header').join(', ')}}`] : []),
    ...(body ? [body.isRequired ? 'body=body' : 'body=body or {}'] : []),
    'try_seconds=try_seconds',
  ];
  const parameters = [
    'self',
    ...pathParameters(operation, types),
    ...(body ? [bodyParameter(body, types)] : []),
    ...optionsOf(operation, types),
  ];
  const shown = answer ? types.typeOf(answer, `${id}Answer`) : 'str';
  return `    def ${variable(id)}(${parameters.join(', ')}) -> ${shown}:
        """${summary}."""
        answer: ${shown} = self._send(
            ${sent.join(',\n            ')},
        )
        return answer`;
}

function pagesOf(operation: ClientOperation, types: PythonTypes): string[] {
  const { id, inPath, pages, options } = operation;
  if (!pages) return [];
  const given = [
    ...inPath.map(({ name }) => variable(name)),
    ...options.map(({ option }) => `${variable(option)}=${variable(option)}`),
    'try_seconds=try_seconds',
  ];
  const parameters = ['self', ...pathParameters(operation, types), ...optionsOf(operation, types)];
  return [
    `    def ${variable(pages.method)}(${parameters.join(', ')}) -> Iterator[${types.typeOf(pages.item, `${id}Item`)}]:
        """Yield the ${pages.field} of \`${variable(id)}\`, page after page."""
        while True:
            page = self.${variable(id)}(${given.join(', ')})
            yield from page["${pages.field}"]
            cursor = page["nextCursor"]
            if cursor is None:
                return`,
  ];
}

const pathParameters = ({ inPath }: ClientOperation, types: PythonTypes): string[] =>
  inPath.map(({ name, schema }) => `${variable(name)}: ${types.typeOf(schema, name)}`);

const bodyParameter = ({ schema, isRequired }: NonNullable<ClientOperation['body']>, types: PythonTypes): string => {
  const type = types.typeOf(schema, 'Body');
  return isRequired ? `body: ${type}` : `body: Optional[${type}] = None`;
};

const optionsOf = ({ options }: ClientOperation, types: PythonTypes): string[] => [
  '*',
  ...options.map(({ option, required, schema }) => {
    const type = types.typeOf(schema, option);
    return required ? `${variable(option)}: ${type}` : `${variable(option)}: Optional[${type}] = None`;
  }),
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
