import type { JsonSchema } from '../../shared/base/json-schema.ts';
import type { OpenApiDocument } from '../../web/docs/openapi-types.ts';

export interface ClientField {
  field: string;
  isRequired: boolean;
  /** An object is a reference to a type of its own. */
  schema: JsonSchema;
}

/** A named type of a client. */
export interface ClientType {
  name: string;
  schema: JsonSchema;
  /** For an object: its fields, without those of `base`, which is an earlier type. */
  fields?: readonly ClientField[];
  base?: string;
}

/**
 * The types of a document, each after those that it needs. An object inside another one is a type of its own, such as
 * `NewRidePickup`. An object that has all fields of an earlier one is based on it, or refers to it. Pure.
 */
export function clientTypes({ components }: OpenApiDocument): ClientType[] {
  const types: ClientType[] = [];
  const objects: { name: string; keys: string[] }[] = [];

  function define(name: string, schema: JsonSchema): void {
    const { properties, required = [] } = schema;
    if (!properties) return void types.push({ name, schema: extractObjects(name, schema) });
    const all = Object.entries(properties).map(([field, inner]) => {
      const isRequired = required.includes(field);
      const fieldSchema = extractObjects(name + field.replace(/^\w/, (letter) => letter.toUpperCase()), inner);
      return { field, isRequired, schema: fieldSchema, key: JSON.stringify([field, isRequired, inner]) };
    });
    const keys = all.map(({ key }) => key);
    const bases = objects.filter((object) => object.keys.every((key) => keys.includes(key)));
    const [base] = bases.sort((some, others) => others.keys.length - some.keys.length);
    objects.push({ name, keys });
    const fields = all.filter(({ key }) => !base?.keys.includes(key));
    if (base && fields.length === 0) types.push({ name, schema: refer(base.name) });
    else types.push({ name, schema, fields, base: base?.name });
  }

  /** Replaces an object by a reference to a type that gets this name. */
  function extractObjects(name: string, schema: JsonSchema): JsonSchema {
    const { type, properties, items, anyOf, description } = schema;
    if (anyOf) return { ...schema, anyOf: anyOf.map((one) => extractObjects(name, one)) };
    if (items) return { ...schema, items: extractObjects(`${name}Item`, items) };
    if (!properties) return schema;
    define(name, { ...schema, description: undefined });
    return type === 'object'
      ? { ...refer(name), description }
      : { anyOf: [refer(name), { type: 'null' }], description };
  }

  for (const [name, schema] of Object.entries(components.schemas)) define(name, schema);
  return types;
}

const refer = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
