import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { originOf } from './authenticate.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, success } from './request-fields.ts';

const answer = objectSchema(
  { success, rideId, status: { const: 'cancelled', type: 'string', description: 'The ride has ended.' } },
  { title: 'RideCancelled' },
);

/** Contract, section 4.5. */
export const cancelRide: PartnerOperation = {
  id: 'cancelRide',
  method: 'POST',
  path: '/rides/:rideId/cancel',
  summary: 'Cancel a ride',
  description: 'Cancels a ride that is not completed or cancelled yet. The request has no body; a body is ignored.',
  tag: 'rides',
  answer: {
    status: 200,
    description: 'The ride is cancelled.',
    schema: answer,
    example: { success: true, rideId: exampleRideId, status: 'cancelled' } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'ride_ended'],
  route: ({ service, findCaller }) =>
    inSteps(cancelRide, {
      authenticate: findCaller,
      validate: (ctx, { keyId }) => ({ keyId, rideId: rideIdOf(ctx), origin: originOf(ctx) }),
      act: ({ keyId, rideId, origin }) =>
        applyAction(service, rideId, { action: 'cancel', by: 'partner' }, { keyId }, origin),
      present: ({ _id }): Shape<typeof answer> => ({ success: true, rideId: _id, status: 'cancelled' }),
    }),
};
