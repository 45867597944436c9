import fc from 'fast-check';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { schemaOf } from './documented.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Any value that a request schema allows. Throws for an unsupported keyword. */
export function bodyFrom(given: JsonSchema): fc.Arbitrary<Json> {
  const schema = schemaOf(given);
  const [member, other, ...more] = schema.anyOf ?? [];
  if (member) {
    if (other?.type !== 'null' || more.length > 0) throw new Error('only a schema or null can be made');
    return fc.option(bodyFrom(member), { freq: 6 });
  }
  const { type, properties, required = [], additionalProperties, ...rest } = schema;
  if (Array.isArray(type)) {
    const [main, second] = type as string[];
    if (second !== 'null' || type.length !== 2) throw new Error(`cannot make a ${type.join(' or ')}`);
    return fc.option(bodyFrom({ ...schema, type: main }), { freq: 6 });
  }
  if (rest.enum) return fc.constantFrom(...(rest.enum as Json[]));
  switch (type) {
    case 'object':
      if (additionalProperties) return mapFrom(schema);
      return fc.record(
        Object.fromEntries(Object.entries(properties ?? {}).map(([name, property]) => [name, bodyFrom(property)])),
        { requiredKeys: [...required] },
      );
    case 'array':
      return arrayFrom(rest);
    case 'string':
      return stringFrom(rest);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(
        fc.integer({ min: rest.minimum, max: rest.maximum }),
        fc.constantFrom(rest.minimum ?? 0, rest.maximum ?? 0),
      );
    case 'number':
      return numberFrom(rest);
  }
  throw new Error(`cannot make a ${type}`);
}

/** A map with any allowed names and values, up to the allowed size. */
function mapFrom({ additionalProperties: values = {}, propertyNames, maxProperties }: JsonSchema): fc.Arbitrary<Json> {
  const names = fc.stringMatching(new RegExp(propertyNames?.pattern ?? ''));
  return fc.dictionary(names, bodyFrom(values), { maxKeys: maxProperties });
}

/** A list of different values. */
function arrayFrom({ items = {} }: JsonSchema): fc.Arbitrary<Json> {
  return fc.uniqueArray(bodyFrom(items), { maxLength: items.enum?.length ?? 5 });
}

function stringFrom({ minLength = 0, maxLength = 300, pattern, format }: JsonSchema): fc.Arbitrary<string> {
  if (pattern || format) throw new Error('cannot make a string with a pattern or format');
  const anyText = fc.string({ unit: 'binary', minLength, maxLength });
  // The constants are a string of the maximum length, in characters that JavaScript counts as two, and one of the
  // minimum length.
  return fc.oneof(
    { arbitrary: anyText, weight: 5 },
    fc.constant('𝕏'.repeat(maxLength)),
    fc.constant('x'.repeat(minLength)),
  );
}

function numberFrom({ minimum, maximum, exclusiveMinimum }: JsonSchema): fc.Arbitrary<number> {
  const min = exclusiveMinimum ?? minimum ?? 0;
  const max = maximum ?? 0;
  const bounds = { min, max, noNaN: true, minExcluded: exclusiveMinimum !== undefined };
  const edges = exclusiveMinimum === undefined ? [min, max] : [max, 5e-324];
  return fc.oneof({ arbitrary: fc.double(bounds), weight: 4 }, fc.constantFrom(...edges));
}

/** A body that matches the schema, except for one change, which may make it invalid. */
export function mutantsOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc
    .tuple(bodyFrom(schema), fc.nat(), wildValue, fc.constantFrom('replace', 'remove', 'add', 'nudge'))
    .map(([body, choice, wild, change]) => {
      const places = placesIn(body);
      const place = places[choice % places.length];
      return place ? changed(body, place, change, wild) : wild;
    });
}

/** True if the API accepts a body of this size. */
export const fits = (body: unknown): boolean => Buffer.byteLength(JSON.stringify(body)) <= 16_384;

/** Values that schemas often forbid. */
const wildValue: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    ...[null, true, false, 0, -0, -1, 1.5, 7, 8, 90, 90.000001, -180.5, 2 ** 53, -(2 ** 53), 1e308, 5e-324],
    ...['', ' ', '5', 'regular', 'REGULAR', 'family', 'intercity', '𝕏'.repeat(201), 'x'.repeat(200), '\u0000'],
    ...[[], {}, [1], { lat: 1 }, { lat: 1, lng: 1 }, { lat: '1', lng: 1 }, { name: 1 }],
  ),
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
) as fc.Arbitrary<Json>;

/** The path of each value in a body. */
function placesIn(value: Json, at: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inside]) => [[...at, name], ...placesIn(inside, [...at, name])]);
}

function changed(body: Json, place: readonly string[], change: string, wild: Json): Json {
  const copy = structuredClone(body) as { [name: string]: Json };
  const parent = place.slice(0, -1).reduce((at, name) => at[name] as { [name: string]: Json }, copy);
  const name = place.at(-1) as string;
  const value = parent[name];
  if (change === 'remove') delete parent[name];
  else if (change === 'add') parent[`${name}_`] = wild;
  else parent[name] = change === 'nudge' && value !== undefined ? nudged(value) : wild;
  return copy;
}

/** A value close to the given one, often just outside the allowed range. */
function nudged(value: Json): Json {
  if (typeof value === 'number') return value + Math.sign(value || 1);
  if (typeof value === 'string') return `${value}x`;
  return value === null ? 0 : [value];
}
