import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { makeOffer as offerOn } from '../../shared/rides/driver/driver-actions.ts';
import { offerId } from '../../shared/rides/driver/driver-schemas.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import { money } from '../rides/field-types.ts';
import { originOf } from './authenticate-driver.ts';
import type { DriverOperation } from './driver-operation.ts';

const schema = bodySchema<{ price: number; etaMinutes: number }>('DriverOffer', {
  price: money.required().description('Your price, in USD.'),
  etaMinutes: Joi.number().min(0).max(1_440).required().description('Minutes until you can be at the pickup.'),
});

const answer = objectSchema({ offerId }, { title: 'DriverOfferMade' });

export const makeOffer: DriverOperation = {
  id: 'makeOffer',
  method: 'POST',
  path: '/requests/:rideId/offers',
  summary: 'Make an offer',
  description:
    'Offers to drive at your price. You can have one live offer on a ride. To change it, withdraw it and make another: at most 3 offers on a ride, withdrawn ones included.',
  tag: 'requests',
  body: { schema, examples: { 'An offer': { price: 26, etaMinutes: 4 } } },
  answer: {
    status: 201,
    description: 'The offer is made.',
    schema: answer,
    example: { offerId: 'offer_5Jt2WmKx8QbR1vZc' } satisfies Shape<typeof answer>,
  },
  errors: [
    'ride_not_found',
    'ride_not_bidding',
    'bidding_over',
    'offer_exists',
    'driver_offers_full',
    'offers_full',
    'on_a_ride',
    'equipment_missing',
    'payload_too_large',
  ],
  route: ({ service, authenticate }) =>
    inSteps(makeOffer, {
      authenticate,
      validate: async (ctx, driver) => ({
        driver,
        terms: validate(schema, await readJsonBody(ctx)),
        rideId: rideIdOf(ctx),
        origin: originOf(ctx),
      }),
      act: ({ rideId, terms, driver, origin }) => offerOn(service, rideId, terms, driver, origin),
      present: ({ offerId }): Shape<typeof answer> => ({ offerId }),
    }),
};
