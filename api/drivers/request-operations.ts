import { AppError } from '../../shared/base/errors.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { pick } from '../../shared/base/pick.ts';
import type { DriverRequest, DriverRides } from '../../shared/rides/driver/driver-rides.ts';
import {
  exampleRideId,
  exampleWish,
  outcome,
  request,
  type ShownOutcome,
  type ShownRequest,
} from '../../shared/rides/driver/driver-schemas.ts';
import { fieldsIn, shownFields } from '../../shared/rides/fields.ts';
import { readCommittedRide } from '../../shared/rides/read-ride.ts';
import type { Location, RideState } from '../../shared/rides/ride-types.ts';
import { get, rideIdOf } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

const answer = objectSchema(
  {
    requests: {
      type: 'array',
      items: request,
      description: 'Ordered by end of bidding, the earliest first. Empty while you are on a ride.',
    },
  },
  { title: 'DriverRequestList' },
);

export const listRequests: DriverOperation = {
  id: 'listRequests',
  method: 'GET',
  path: '/requests',
  summary: 'List the requests',
  description:
    'Lists the rides that are open to you and that you have not declined, without addresses: only the chosen driver sees these.',
  tag: 'requests',
  answer: answerOf(200, 'The requests.', answer, {
    requests: [
      {
        rideId: exampleRideId,
        ...exampleWish,
        pickup: { lat: 40.758, lng: -73.9855 },
        destination: { lat: 40.7128, lng: -74.006 },
        pickupKm: 0.78,
        biddingEndsAt: 1_795_270_199_512,
        offer: { offerId: 'offer_5Jt2WmKx8QbR1vZc', price: 26, etaMinutes: 4 },
      },
    ],
  }),
  errors: [],
  route: ({ authenticate, ridesOf }) =>
    get({
      authenticate: async (ctx) => ridesOf((await authenticate(ctx)).driverId),
      present: presentRequests,
    }),
};

/** The open rides, without what only the chosen driver may see: passenger, notes and addresses. */
export const presentRequests = ({ requests }: DriverRides): Shape<typeof answer> => ({
  requests: requests.map(presentRequest),
});

function presentRequest({ ride, pickupKm, offer }: DriverRequest): ShownRequest {
  const { needs, ...given } = shownFields(ride, fieldsIn('request'));
  return {
    rideId: ride._id,
    ...pick(ride, 'fare', 'carType', 'rideType', 'passengerCount'),
    pickup: withoutAddress(ride.pickup),
    destination: withoutAddress(ride.destination),
    distanceKm: ride.distanceKm,
    ...(needs && { needs }),
    pickupKm,
    biddingEndsAt: ride.biddingEndsAt.getTime(),
    ...given,
    ...(offer && { offer: pick(offer, 'offerId', 'price', 'etaMinutes') }),
  };
}

const withoutAddress = ({ lat, lng }: Location) => ({ lat, lng });

export const showOutcome: DriverOperation = {
  id: 'showOutcome',
  method: 'GET',
  path: '/requests/:rideId',
  summary: 'Show the outcome of a request',
  description:
    "Shows the outcome of a ride that was opened to you, also after it left the list. For another driver's ride it shows only `other_driver`.",
  tag: 'requests',
  answer: answerOf(200, 'The outcome of the request.', outcome, {
    rideId: exampleRideId,
    outcome: 'cancelled',
    cancelledBy: 'partner',
  }),
  errors: ['ride_not_found'],
  route: ({ authenticate }) =>
    get({
      authenticate: async (ctx) => {
        const { driverId } = await authenticate(ctx);
        const ride = await readCommittedRide({ rideId: rideIdOf(ctx), owner: { driverId } });
        if (!ride) throw new AppError('ride_not_found');
        return { ride, driverId };
      },
      present: ({ ride, driverId }) => presentOutcome(ride, driverId),
    }),
};

/** The outcome as a driver sees it. If another driver was chosen, it is only `other_driver`. */
function presentOutcome({ _id: rideId, status, driver, cancelledBy }: RideState, driverId: string): ShownOutcome {
  if (driver && driver.driverId !== driverId) return { rideId, outcome: 'other_driver' };
  if (status === 'bidding') return { rideId, outcome: 'open' };
  if (status === 'cancelled') return { rideId, outcome: 'cancelled', cancelledBy };
  return { rideId, outcome: status === 'completed' ? 'completed' : 'chosen' };
}
