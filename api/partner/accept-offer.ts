import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { exampleOffer } from '../../shared/rides/event-schemas.ts';
import { movingStatus, rideId } from '../../shared/rides/public-schemas.ts';
import type { MovingStatus } from '../../shared/rides/ride-types.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, offerChoice, success } from './request-fields.ts';

const answer = objectSchema(
  {
    success,
    rideId,
    status: {
      ...movingStatus,
      description: '`driver_arriving`; if you accept the same offer again, the current status.',
    },
  },
  { title: 'OfferAccepted' },
);

/** Contract, section 4.4. */
export const acceptOffer: PartnerOperation = {
  id: 'acceptOffer',
  method: 'POST',
  path: '/rides/:rideId/accept',
  summary: 'Accept an offer',
  description:
    'Accepts one offer: its driver is dispatched, all other offers are dropped, and the ride becomes `driver_arriving`.\n\nIdempotent until the ride has ended: accepting the same offer again returns 200 and changes nothing. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema: offerChoice, examples: { 'An offer': { offerId: exampleOffer.offerId } } },
  answer: {
    status: 200,
    description: 'The offer is accepted.',
    schema: answer,
    example: { success: true, rideId: exampleRideId, status: 'driver_arriving' } satisfies Shape<typeof answer>,
  },
  errors: [
    'ride_not_found',
    'offer_not_found',
    'ride_not_bidding',
    'bidding_over',
    'offer_withdrawn',
    'driver_busy',
    'payload_too_large',
  ],
  route({ service, findCaller }) {
    const body = bodyOf(offerChoice);
    return inSteps(acceptOffer, {
      authenticate: findCaller,
      validate: async (ctx, { keyId }) => {
        const { offerId } = await body(ctx);
        return { keyId, rideId: rideIdOf(ctx), offerId, origin: originOf(ctx) };
      },
      act: ({ keyId, rideId, offerId, origin }) =>
        applyAction(service, rideId, { action: 'accept', offerId }, { keyId }, origin),
      present: (ride): Shape<typeof answer> => ({
        success: true,
        rideId: ride._id,
        // The status is a moving one, because accepting an offer again succeeds only until the ride has ended.
        status: ride.status as MovingStatus,
      }),
    });
  },
};
