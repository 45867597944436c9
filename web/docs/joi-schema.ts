import type Joi from 'joi';
import type { JsonSchema } from '../../shared/base/json-schema.ts';

type Draft = { -readonly [Keyword in keyof JsonSchema]: JsonSchema[Keyword] };
/**
 * JSON Schema as Joi exports it. It differs from the schemas of this service: objects are closed, and a map has
 * `patternProperties`.
 */
type JoiExport = Omit<Draft, 'additionalProperties'> & {
  additionalProperties?: unknown;
  patternProperties?: Record<string, JsonSchema>;
};

/**
 * Converts a Joi schema to JSON Schema: Joi's own export, plus the rules that the export lacks. Objects are open,
 * because unknown fields are ignored. Fields that treat `null` as absent allow `null`. Numbers end at the largest safe
 * integer. Throws for a schema that it cannot describe correctly.
 *
 * A `custom` rule is code, so its JSON Schema must be in `.meta({ openapi })`. With `.meta({ isOpaque: true })`, the
 * result has no pattern.
 */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  return complete(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }), schema.describe());
}

function complete(exported: JoiExport, description: Joi.Description): JsonSchema {
  const { metas = [], rules = [], examples, keys = {}, items, patterns = [], flags = {} } = description as Description;
  const additions = metas.flatMap(({ openapi }) => (openapi ? [openapi] : []));
  if (rules.filter(({ name }) => name === 'custom').length > additions.length || description.dependencies) {
    throw new Error('A custom rule or a dependency needs .meta({ openapi }): Joi exports neither');
  }
  const { additionalProperties: _closed, patternProperties = {}, ...schema } = exported;
  const draft: Draft = { ...schema, ...(examples && { examples }) };
  if (draft.properties) {
    const properties = Object.entries(draft.properties);
    draft.properties = Object.fromEntries(
      properties.map(([name, property]) => [name, complete(property, keys[name] as Joi.Description)]),
    );
  }
  if (draft.items && items?.[0]) draft.items = complete(draft.items, items[0]);
  for (const { regex, rule } of patterns) {
    const values = patternProperties['^'];
    if (regex !== '/^/' || !values) throw new Error('A pattern must match any name: only such maps can be described');
    draft.additionalProperties = complete(values, rule);
  }
  if (draft.type === 'number' || draft.type === 'integer') limitToSafeIntegers(draft);
  // An empty text counts as absent, so it is allowed.
  if (flags.empty?.allow?.includes('')) delete draft.minLength;
  if (metas.some(({ isOpaque }) => isOpaque)) delete draft.pattern;
  Object.assign(draft, ...additions);
  return flags.empty?.allow?.includes(null) ? orNull(draft) : draft;
}

/** The parts of Joi's `describe()` that this file uses. */
interface Description {
  metas?: { openapi?: JsonSchema; isOpaque?: boolean }[];
  rules?: { name: string }[];
  examples?: unknown[];
  keys?: Record<string, Joi.Description>;
  items?: Joi.Description[];
  patterns?: { regex: string; rule: Joi.Description }[];
  flags?: { empty?: { allow?: unknown[] } };
}

/** Joi refuses integers that JavaScript cannot represent exactly. */
function limitToSafeIntegers(draft: Draft): void {
  draft.maximum ??= Number.MAX_SAFE_INTEGER;
  if (draft.exclusiveMinimum === undefined) draft.minimum ??= Number.MIN_SAFE_INTEGER;
}

function orNull(draft: Draft): JsonSchema {
  if (typeof draft.type !== 'string') throw new Error('Only a schema of one type can be null as well');
  return { ...draft, type: [draft.type, 'null'], ...(draft.enum && { enum: [...draft.enum, null] }) };
}
