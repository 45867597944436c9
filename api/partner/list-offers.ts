import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { exampleOffer } from '../../shared/rides/event-schemas.ts';
import { publicOffer } from '../../shared/rides/events.ts';
import { visibleOffers } from '../../shared/rides/offers.ts';
import { offerSchema, rideId } from '../../shared/rides/public-schemas.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { get } from '../http/route.ts';
import { authenticateForRide } from './authenticate.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId } from './request-fields.ts';

const answer = objectSchema(
  {
    rideId,
    offers: {
      type: 'array',
      items: offerSchema,
      description:
        'While the ride is `bidding`: all live offers, the cheapest first. Afterwards: only the accepted offer. None once the ride is cancelled.',
    },
  },
  { title: 'OfferList' },
);

const readFields = { keyId: 1, status: 1, offers: 1, acceptedOfferId: 1 } as const;

/** Contract, section 4.3. */
export const listOffers: PartnerOperation = {
  id: 'listOffers',
  method: 'GET',
  path: '/rides/:rideId/offers',
  summary: 'List the offers',
  description:
    'Lists the offers of a ride, ordered by price, then by ETA. You may poll it while the ride is `bidding`.',
  tag: 'rides',
  answer: answerOf(200, 'The offers.', answer, { rideId: exampleRideId, offers: [exampleOffer] }),
  errors: ['ride_not_found'],
  route: ({ service }) =>
    get({
      authenticate: authenticateForRide<Pick<Ride, '_id' | keyof typeof readFields>>(service, readFields),
      present: (ride): Shape<typeof answer> => ({ rideId: ride._id, offers: visibleOffers(ride).map(publicOffer) }),
    }),
};
