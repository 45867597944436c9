import type Joi from 'joi';
import type { JsonSchema } from '../../shared/base/json-schema.ts';

type Draft = { -readonly [Keyword in keyof JsonSchema]: JsonSchema[Keyword] };
/** As Joi writes it: objects are closed, and a map is what it says of names with a pattern. */
type Exported = Omit<Draft, 'additionalProperties'> & {
  additionalProperties?: unknown;
  patternProperties?: Record<string, JsonSchema>;
};

/**
 * What a Joi schema accepts, as JSON Schema: Joi's own export, and what it leaves out. Objects are open, because unknown fields
 * are ignored; `null` counts as absent where the schema says so; numbers end at the largest safe integer. What only code
 * knows (`custom`) comes from `.meta({ openapi })`, one for each `custom`. With `.meta({ isOpaque: true })` the pattern is left
 * out. Throws for a schema that would be described wrongly.
 */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  return completed(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), schema.describe());
}

function completed(exported: Exported, described: Joi.Description): JsonSchema {
  const { metas = [], rules = [], examples, keys = {}, items, patterns = [], flags = {} } = described as Described;
  const additions = metas.flatMap(({ openapi }) => (openapi ? [openapi] : []));
  if (rules.filter(({ name }) => name === 'custom').length > additions.length || described.dependencies) {
    throw new Error('A custom rule or a dependency needs .meta({ openapi }): Joi exports neither');
  }
  const { additionalProperties: _closed, patternProperties = {}, ...schema } = exported;
  const draft: Draft = { ...schema, ...(examples && { examples }) };
  if (draft.properties) {
    const properties = Object.entries(draft.properties);
    draft.properties = Object.fromEntries(
      properties.map(([name, property]) => [name, completed(property, keys[name] as Joi.Description)]),
    );
  }
  if (draft.items && items?.[0]) draft.items = completed(draft.items, items[0]);
  for (const { regex, rule } of patterns) {
    const values = patternProperties['^'];
    if (regex !== '/^/' || !values) throw new Error('Only a pattern of any name is described: as a map');
    draft.additionalProperties = completed(values, rule);
  }
  if (draft.type === 'number' || draft.type === 'integer') keepSafe(draft);
  // An empty text counts as absent.
  if (flags.empty?.allow?.includes('')) delete draft.minLength;
  if (metas.some(({ isOpaque }) => isOpaque)) delete draft.pattern;
  Object.assign(draft, ...additions);
  return flags.empty?.allow?.includes(null) ? orNull(draft) : draft;
}

/** What `describe` says, as far as it is used here. */
interface Described {
  metas?: { openapi?: JsonSchema; isOpaque?: boolean }[];
  rules?: { name: string }[];
  examples?: unknown[];
  keys?: Record<string, Joi.Description>;
  items?: Joi.Description[];
  patterns?: { regex: string; rule: Joi.Description }[];
  flags?: { empty?: { allow?: unknown[] } };
}

/** Joi refuses numbers that JavaScript cannot tell from their neighbours. */
function keepSafe(draft: Draft): void {
  draft.maximum ??= Number.MAX_SAFE_INTEGER;
  if (draft.exclusiveMinimum === undefined) draft.minimum ??= Number.MIN_SAFE_INTEGER;
}

function orNull(draft: Draft): JsonSchema {
  if (typeof draft.type !== 'string') throw new Error('Only a schema of one type can be null as well');
  return { ...draft, type: [draft.type, 'null'], ...(draft.enum && { enum: [...draft.enum, null] }) };
}
