import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { changeTerms } from '../../shared/rides/change-terms.ts';
import { rideId, status } from '../../shared/rides/public-schemas.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { changedTerms, changedTermsSchema } from '../rides/new-ride.ts';
import { assertPickupTime } from '../rides/pickup-time.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, success } from './request-fields.ts';

const answer = objectSchema({ success, rideId, status }, { title: 'RideChanged' });

/** Contract, section 10.14. */
export const changeRequest: PartnerOperation = {
  id: 'changeRide',
  method: 'PATCH',
  path: '/rides/:rideId',
  summary: 'Change a ride',
  description:
    'Changes what you asked for; fields that you leave out stay. `destination`, `passengerCount`, `needs` and `pickupAt` can change while the ride is `bidding`, the other fields until it ends. A new destination changes `distanceKm` to the great-circle distance. Offers of drivers whose cars no longer fit are withdrawn. Drivers see the change at once, and it sends no event.\n\nIdempotent: a repeat returns 200 and changes nothing.',
  tag: 'rides',
  body: {
    // Only the checks of `webhookUrl` depend on the settings.
    schema: changedTermsSchema({ environment: 'production', webhookLocalTargets: [] }),
    examples: {
      'The trip': { destination: { lat: 40.7061, lng: -74.0088, address: 'Pier 11' }, passengerCount: 3 },
      'A note': { notes: 'The guest waits at the side entrance' },
    },
  },
  answer: {
    status: 200,
    description: 'The ride has these values.',
    schema: answer,
    example: { success: true, rideId: exampleRideId, status: 'bidding' } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'ride_not_bidding', 'bidding_over', 'ride_ended', 'payload_too_large'],
  route({ service, findCaller }) {
    const body = bodyOf(changedTermsSchema(service.config));
    return inSteps(changeRequest, {
      authenticate: findCaller,
      validate: async (ctx, { keyId }) => {
        const terms = changedTerms(await body(ctx));
        return { terms, keyId, rideId: rideIdOf(ctx), origin: originOf(ctx) };
      },
      act: ({ terms, keyId, rideId, origin }) =>
        changeTerms(
          service,
          rideId,
          { terms, check: (news) => assertPickupTime(news, service.now()), origin },
          { keyId },
        ),
      present: ({ _id, status }): Shape<typeof answer> => ({ success: true, rideId: _id, status }),
    });
  },
};
