/** The subset of JSON Schema (draft 2020-12) that describes responses and events. Pure. */
export interface JsonSchema {
  /** The name under which the OpenAPI document lists the schema in `components.schemas`. */
  readonly title?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** For a map: the schema of its values, the schema of its names, and its maximum size. */
  readonly additionalProperties?: JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly maxProperties?: number;
  readonly anyOf?: readonly JsonSchema[];
}

/** The type of the values that a schema allows, so the compiler checks a function's result against the schema. */
export type Shape<Schema> = Schema extends { const: infer Only }
  ? Only
  : Schema extends { enum: readonly (infer Member)[] }
    ? Member
    : Schema extends { anyOf: readonly (infer Member)[] }
      ? Shape<Member>
      : Schema extends { type: 'object'; properties: infer Properties; required: readonly (infer Required)[] }
        ? ObjectShape<Properties, Required>
        : Schema extends { type: 'object'; additionalProperties: infer Values }
          ? Record<string, Shape<Values>>
          : Schema extends { type: 'array'; items: infer Items }
            ? Shape<Items>[]
            : Schema extends { type: keyof Primitives }
              ? Primitives[Schema['type']]
              : never;

type ObjectShape<Properties, Required> = {
  [Name in keyof Properties as Name extends Required ? Name : never]: Shape<Properties[Name]>;
} & { [Name in keyof Properties as Name extends Required ? never : Name]?: Shape<Properties[Name]> };

interface Primitives {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

/** The schema of an object. Properties are required unless listed as optional; clients ignore unknown properties. */
export function objectSchema<
  const Properties extends Record<string, JsonSchema>,
  const Optional extends keyof Properties & string = never,
>(properties: Properties, about: { title?: string; description?: string; optional?: readonly Optional[] } = {}) {
  const { optional = [], ...rest } = about;
  const names = Object.keys(properties) as (keyof Properties & string)[];
  const required = names.filter((name) => !optional.includes(name as Optional)) as Exclude<
    keyof Properties & string,
    Optional
  >[];
  return { ...rest, type: 'object', properties, required } as const;
}
