import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { fare, rideId } from '../../shared/rides/public-schemas.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { money } from '../rides/field-types.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { bidding, exampleRideId, success } from './request-fields.ts';
import { warnOfFare } from './warnings.ts';

const schema = bodySchema<{ fare: number }>('NewFare', {
  fare: money.required().description('The new fare, in USD: not below the current one.'),
});

const answer = objectSchema({ success, rideId, status: bidding, fare }, { title: 'FareRaised' });

/** Contract, section 10.6. */
export const raiseFare: PartnerOperation = {
  id: 'raiseFare',
  method: 'POST',
  path: '/rides/:rideId/fare',
  summary: 'Raise the fare',
  description:
    'Raises the fare of a ride that is `bidding`. Drivers who were asked see it immediately; existing offers do not change.\n\nIdempotent: the fare that the ride already has returns 200 and changes nothing. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema, examples: { 'A fare': { fare: 27 } } },
  answer: {
    status: 200,
    description: 'The ride has the new fare.',
    schema: answer,
    example: { success: true, rideId: exampleRideId, status: 'bidding', fare: 27 } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'ride_not_bidding', 'bidding_over', 'fare_not_higher', 'payload_too_large'],
  route({ service, findCaller }) {
    const body = bodyOf(schema);
    return inSteps(raiseFare, {
      authenticate: findCaller,
      validate: async (ctx, { keyId }) => {
        const { fare } = await body(ctx);
        warnOfFare(ctx, fare);
        return { fare, keyId, rideId: rideIdOf(ctx), origin: originOf(ctx) };
      },
      act: ({ fare, keyId, rideId, origin }) =>
        applyAction(service, rideId, { action: 'raiseFare', fare }, { keyId }, origin),
      present: (ride): Shape<typeof answer> => ({
        success: true,
        rideId: ride._id,
        status: 'bidding',
        fare: ride.fare,
      }),
    });
  },
};
