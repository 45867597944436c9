import fc from 'fast-check';
import { needs } from '../../shared/base/terms.ts';
import { fieldNames as optionalNames } from '../../shared/rides/fields.ts';
import { validRide } from './client.ts';

const fieldNames = [
  ...['pickup', 'destination', 'fare', 'carType', 'passengerCount', 'distanceKm', 'rideType', 'offerId'],
  ...optionalNames,
  ...['__proto__', 'constructor', 'prototype', '$where', '$set', 'a.b', '_id', 'status', 'toString'],
];

const operators = fc.constantFrom<object>(
  { $gt: '' },
  { $ne: null },
  { $where: '1' },
  { $regex: '.*' },
  { $in: ['RIDE', 'OFFER'] },
  { $function: { body: 'CANARY' } },
  JSON.parse('{"__proto__":{"fare":1}}'),
  { constructor: { prototype: { fare: 1 } } },
  { lat: { $gt: -90 }, lng: { $gt: -180 } },
);

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.integer(),
  fc.string({ unit: 'binary' }),
  operators,
  fc.constantFrom(
    null,
    '',
    0,
    -0,
    1e308,
    -1e308,
    5e-324,
    2 ** 53,
    {},
    [],
    'regular',
    'CANARY',
    'https://x.example/CANARY',
  ),
  fc.constantFrom(
    ...['\ud800', '\udfff x', 'x\u0000', '\ufffd', '\u202e', '𝕏'.repeat(201), 'x'.repeat(200), 'CANARY'.repeat(60)],
  ),
);

const coordinate = fc.oneof(
  fc.double({ min: -200, max: 200, noNaN: true }),
  fc.integer({ min: -180, max: 180 }),
  anyValue,
);
const place = fc.oneof(
  fc.record({ lat: coordinate, lng: coordinate, address: anyValue }, { requiredKeys: [] }),
  fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
);

/** A valid creation, with some or all fields replaced by any value. */
const rideBody = fc
  .tuple(
    fc.record(
      {
        pickup: place,
        destination: place,
        fare: fc.oneof(fc.double({ min: 0, noNaN: true }), anyValue),
        notes: fc.constant('CANARY'),
        needs: fc.array(fc.oneof(fc.constantFrom(...needs), anyValue), { maxLength: 6 }),
        autoAccept: fc.record(
          { maxPrice: anyValue, maxEtaMinutes: anyValue, waitSeconds: anyValue },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.constantFrom(...fieldNames), anyValue, { maxKeys: 3 }),
  )
  .map(([likely, wild]) => JSON.stringify({ ...validRide, ...likely, ...wild }));

/** A valid creation, with additional fields that must not be stored. */
const goodRide = fc
  .dictionary(
    fc.constantFrom('__proto__', 'constructor', '$where', '$set', 'a.b', '_id', 'status', 'keyId', 'CANARY'),
    anyValue,
    {
      maxKeys: 3,
    },
  )
  .map((wild) => JSON.stringify({ ...wild, ...validRide, notes: 'CANARY' }));

/** A valid creation of an exact length. */
const paddedRide = fc.constantFrom(16_383, 16_384, 16_385, 40_000).map((bytes) => {
  const text = JSON.stringify({ ...validRide, padding: '' });
  return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
});
/** JSON with values that JavaScript cannot represent, duplicate or dangerous keys, and deep nesting. */
const jsonText = fc.constantFrom(
  ...['1e999', '-1e999', '1'.repeat(400), '0.1e-400', '-0', '"\\ud800"', '"\\u0000"', '{"$numberDouble":"NaN"}'].map(
    (fare) => JSON.stringify({ ...validRide, fare: 0 }).replace('"fare":0', `"fare":${fare}`),
  ),
  `{"fare":1,${JSON.stringify(validRide).slice(1)}`,
  `{"__proto__":{"fare":3,"status":"completed"},${JSON.stringify(validRide).slice(1)}`,
  `{"constructor":{"prototype":{"keyId":"CANARY"}},${JSON.stringify(validRide).slice(1)}`,
  `{"\\u005f_proto__":{"CANARY":1},${JSON.stringify(validRide).slice(1)}`,
  `\ufeff${JSON.stringify(validRide)}`,
  `${'['.repeat(8_000)}${']'.repeat(8_000)}`,
  `${'{"a":'.repeat(2_700)}1${'}'.repeat(2_700)}`,
  `{"notes":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
);

/** Any kind of body; most are almost valid creations. */
export const anyBody = fc.oneof(
  { arbitrary: rideBody, weight: 6 },
  { arbitrary: goodRide, weight: 4 },
  {
    arbitrary: fc.record({ offerId: fc.oneof(fc.constant('OFFER'), anyValue) }).map((value) => JSON.stringify(value)),
    weight: 2,
  },
  fc.json({ maxDepth: 5 }),
  fc.string({ unit: 'binary' }),
  paddedRide,
  jsonText,
  fc.constantFrom('', '{', '[]', '{}', 'null', '"CANARY"', `{"notes":"${'x'.repeat(17_000)}"}`, '['.repeat(5_000)),
);
/** The encoding in which the text is sent. */
export const anyEncoding = fc.oneof(
  { arbitrary: fc.constant('utf8' as const), weight: 20 },
  fc.constantFrom('utf16le' as const, 'latin1' as const),
);
