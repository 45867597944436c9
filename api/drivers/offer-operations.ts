import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import {
  declineRequest as decline,
  makeOffer as offerOn,
  withdrawOwnOffer,
} from '../../shared/rides/driver/driver-actions.ts';
import { offerId } from '../../shared/rides/driver/driver-schemas.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps, paramOf, rideIdOf } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import { money } from '../rides/field-types.ts';
import { originOf } from './authenticate-driver.ts';
import type { DriverOperation } from './driver-operation.ts';

/** The answers of a driver to a request. */

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
  answer: answerOf(201, 'The offer is made.', answer, { offerId: 'offer_5Jt2WmKx8QbR1vZc' }),
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
      validate: async (ctx, driver) => ({ driver, terms: validate(schema, await readJsonBody(ctx)) }),
      act: ({ driver, terms }, ctx) => offerOn(service, rideIdOf(ctx), terms, driver, originOf(ctx)),
      present: ({ offerId }): Shape<typeof answer> => ({ offerId }),
    }),
};

export const withdrawOffer: DriverOperation = {
  id: 'withdrawOffer',
  method: 'DELETE',
  path: '/requests/:rideId/offers/:offerId',
  summary: 'Withdraw an offer',
  description: 'Withdraws your offer. Idempotent: a repeat also returns 204.',
  tag: 'requests',
  answer: { status: 204, description: 'The offer is withdrawn.' },
  errors: ['ride_not_found', 'offer_not_found', 'ride_not_bidding'],
  route: ({ service, authenticate }) =>
    inSteps(withdrawOffer, {
      authenticate,
      validate: (_ctx, { driverId }) => ({ driverId }),
      act: (owner, ctx) => withdrawOwnOffer(service, rideIdOf(ctx), paramOf(ctx, 'offerId'), owner),
    }),
};

export const declineRequest: DriverOperation = {
  id: 'declineRequest',
  method: 'DELETE',
  path: '/requests/:rideId',
  summary: 'Decline a request',
  description:
    'Removes the ride from your requests, withdraws your offer on it, and makes room for another request. Idempotent: a repeat also returns 204.',
  tag: 'requests',
  answer: { status: 204, description: 'The request is declined.' },
  errors: ['ride_not_found'],
  route: ({ service, authenticate }) =>
    inSteps(declineRequest, {
      authenticate,
      validate: (_ctx, { driverId }) => ({ driverId }),
      act: (owner, ctx) => decline(service, rideIdOf(ctx), owner, originOf(ctx)),
    }),
};
