import { withdrawOwnOffer } from '../../shared/rides/driver/driver-actions.ts';
import { inSteps, paramOf, rideIdOf } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

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
      validate: (ctx, { driverId }) => ({ driverId, rideId: rideIdOf(ctx), offerId: paramOf(ctx, 'offerId') }),
      act: ({ driverId, rideId, offerId }) => withdrawOwnOffer(service, rideId, offerId, { driverId }),
      present: () => null,
    }),
};
