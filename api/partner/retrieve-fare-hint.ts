import Joi from 'joi';
import { greatCircleKm, type Point } from '../../shared/base/great-circle.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import type { CarType } from '../../shared/base/terms.ts';
import { fareBases, fareHint as findFareHint, pricesFor } from '../../shared/fares/fare-hint.ts';
import { carType } from '../../shared/rides/public-schemas.ts';
import { inSteps } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { choice } from '../rides/field-types.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { warnOfPlaces } from './warnings.ts';

const pointPattern = /^(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)$/;

/** `lat,lng` in a query. */
const point = (example: string) =>
  Joi.string()
    .required()
    .custom((value: string, helpers) => {
      const [, lat, lng] = pointPattern.exec(value) ?? [];
      const place = { lat: Number(lat), lng: Number(lng) };
      return Math.abs(place.lat) <= 90 && Math.abs(place.lng) <= 180 ? place : helpers.error('point.form');
    })
    .meta({ openapi: { pattern: pointPattern.source } })
    .messages({ 'point.form': '{{#label}} must be a latitude and a longitude, such as 40.758,-73.9855' })
    .example(example);

const query = Joi.object<{ pickup: Point; destination: Point; carType: CarType }>({
  pickup: point('40.758,-73.9855').description('The start of the ride: latitude and longitude in degrees.'),
  destination: point('40.7128,-74.006').description('The end of the ride.'),
  carType: choice(carType).empty('').default('regular').description(carType.description),
});

const amount = (description: string) => ({ type: 'number', exclusiveMinimum: 0, description }) as const;
const quartiles = (description: string) =>
  ({
    anyOf: [
      objectSchema({
        lower: amount('A quarter of the trips cost less.'),
        median: amount('Half of the trips cost less.'),
        upper: amount('A quarter of the trips cost more.'),
      }),
      { type: 'null' },
    ],
    description,
  }) as const;

const answer = objectSchema(
  {
    carType,
    distanceKm: { type: 'number', minimum: 0, description: 'The great-circle distance.' },
    basis: {
      title: 'FareBasis',
      type: ['string', 'null'],
      enum: [...fareBases, null],
      description:
        '`rides`: completed rides of several partners. `tariff`: the tariff of the service, if too few rides are known. `sample`: the fixed sample for a test key. `null`: no hint.',
    },
    perKm: quartiles('In USD per km; `null` without a hint.'),
    fare: quartiles('The same for this distance, in USD. With a tariff, this includes the base fare.'),
  },
  { title: 'FareHint' },
);

/** Contract, section 10.7. */
export const fareHint: PartnerOperation = {
  id: 'retrieveFareHint',
  method: 'GET',
  path: '/fare-hint',
  summary: 'Get a fare hint',
  description:
    'Shows the price per km of completed live rides that started near the pickup in the last 28 days. A test key gets a fixed sample. [Set a fare](https://rides.example/docs/fares#what-rides-cost) explains which trips count and the meaning of `basis`.',
  tag: 'rides',
  query,
  answer: answerOf(200, 'The hint; its values are `null` if there is none.', answer, {
    carType: 'regular',
    distanceKm: 5.31,
    basis: 'sample',
    perKm: { lower: 3.6, median: 4.5, upper: 5.4 },
    fare: { lower: 19.12, median: 23.9, upper: 28.67 },
  }),
  errors: [],
  route: ({ service, findCaller }) =>
    inSteps(fareHint, {
      authenticate: findCaller,
      validate: (ctx, { mode }) => {
        const asked = queryOf(query, ctx);
        warnOfPlaces(ctx, asked.pickup, asked.destination);
        return { ...asked, mode };
      },
      act: async ({ destination, ...trip }) => ({
        carType: trip.carType,
        distanceKm: greatCircleKm(trip.pickup, destination),
        hint: await findFareHint(trip, { tariff: service.config.fareTariff, nowMs: service.now() }),
      }),
      present: ({ carType, distanceKm, hint: { basis, base, perKm } }): Shape<typeof answer> => ({
        ...{ carType, distanceKm, basis },
        perKm: perKm && pricesFor(perKm, 0, 1),
        fare: perKm && pricesFor(perKm, base, distanceKm),
      }),
    }),
};
