import { expect } from 'chai';
import fc from 'fast-check';
import Joi from 'joi';
import { acceptorOf } from '../../api/http/accept-valid.ts';
import { createRide } from '../../api/partner/create-ride-operation.ts';
import { newRideSchema } from '../../api/rides/new-ride.ts';

/** Each seed generates different bodies; `COUNT=100000` tries more of them. */
const seed = Number(process.env.SEED ?? 20_261_128);
const count = Number(process.env.COUNT ?? 5_000);

type Json = unknown;
type Path = readonly string[];

/** The paths of all fields and entries in a body, and of one more in each object. */
function pathsIn(part: Json): Path[] {
  if (typeof part !== 'object' || part === null) return [];
  const inside = Object.entries(part).flatMap(([name, value]) => [
    [name],
    ...pathsIn(value).map((path) => [name, ...path]),
  ]);
  return [...inside, ['more']];
}

/** The body with another value at this path; without the field if the value is undefined. */
function changed(body: Json, [name, ...rest]: Path, value: Json): Json {
  if (name === undefined) return value;
  if (typeof body !== 'object' || body === null) return body;
  const inside = changed((body as Record<string, Json>)[name], rest, value);
  if (Array.isArray(body)) return body.map((item, index) => (String(index) === name ? inside : item));
  const { [name]: _, ...others } = body as Record<string, Json>;
  return inside === undefined ? others : { ...others, [name]: inside };
}

const texts = [
  ...['', 'x', 'x'.repeat(41), '𝕏'.repeat(100), 'x'.repeat(201), '\ud800', '12', 'pet', 'es-mx', 'es_MX', 'rebid'],
];
const phones = ['+12025550143', '+1202555014', '2025550143'];
const urls = [
  ...['https://partner.example/rides', 'https://10.0.0.1/', 'http://partner.example/', 'https://user@partner.example'],
];
const numbers = [
  ...[0, -0, 1, 1.5, 7, 8, 200, 601, 1_441, 1e-7, -90.1, 90, 181, 1e6, 1e9, 1e15, 2 ** 53, -(2 ** 53), Infinity],
];
const contact = { phone: '+12025550143' };
const lists = [...[[], ['pet'], ['pet', 'pet'], ['cat'], [null], [{}], [1], [contact], Array(4).fill(contact)]];
const maps: object[] = [{}, { a: 'b' }, { 'a b': 'c' }, { a: null }, { a: 1 }, { constructor: 'x', toString: 'y' }];
const manyEntries = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`n${index}`, index < 2 ? null : 'x']));
const values = [undefined, null, true, false, ...texts, ...phones, ...urls, ...numbers, ...lists, ...maps, manyEntries];

/** A body with up to four changes, of which some are valid. */
const bodiesFrom = (example: object) =>
  fc
    .array(
      fc.tuple(fc.constantFrom(...pathsIn(example), []), fc.oneof(fc.constant(null), fc.constantFrom(...values))),
      {
        maxLength: 4,
      },
    )
    .map((changes) => changes.reduce<Json>((body, [path, value]) => changed(body, path, value), example));

/** The value and the decision of Joi alone, as `validate` asks for it. */
const byJoi = (schema: Joi.Schema, body: Json) => {
  const { value, error } = schema.validate(body, { convert: false, stripUnknown: true });
  return error ? undefined : value;
};

describe('the acceptor of valid bodies', () => {
  it(`decides as Joi does, with the same value, for ${count} bodies of a creation (seed ${seed})`, () => {
    const schema = newRideSchema({ environment: 'production', webhookLocalTargets: [] });
    const accept = acceptorOf(schema);
    const seen = new Set<boolean>();
    const examples = Object.values(createRide.body?.examples ?? {});
    const property = fc.property(fc.oneof(...examples.map(bodiesFrom)), (given) => {
      const expected = byJoi(schema, given);
      seen.add(expected !== undefined);
      expect(accept(given)).to.deep.equal(expected);
    });
    fc.assert(property, { seed, numRuns: count });
    expect([...seen], 'decisions').to.have.members([true, false]);
  });

  it('is not made for a schema with a rule that it does not know', () => {
    for (const schema of [
      Joi.string().uppercase(),
      Joi.object({ a: Joi.number().multiple(2) }),
      Joi.object({ a: Joi.any() }).rename('b', 'a'),
      Joi.object().pattern(/^a/, Joi.any()),
      Joi.array().items(Joi.string(), Joi.number()),
      Joi.array().items(Joi.string().required()),
      Joi.array()
        .items(Joi.string())
        .unique((a, b) => a === b),
      Joi.string().empty(Joi.string().valid('x').allow(null).max(1)),
      Joi.string().max(3, 'utf8'),
      Joi.string().forbidden(),
      Joi.string().default(() => 'x'),
      Joi.string().invalid('a'),
      Joi.date(),
    ]) {
      expect(() => acceptorOf(schema)).to.throw();
    }
  });
});
