import { declineRequest as decline } from '../../shared/rides/driver/driver-actions.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { originOf } from './authenticate-driver.ts';
import type { DriverOperation } from './driver-operation.ts';

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
      validate: (ctx, { driverId }) => ({ driverId, rideId: rideIdOf(ctx), origin: originOf(ctx) }),
      act: ({ driverId, rideId, origin }) => decline(service, rideId, { driverId }, origin),
      present: () => null,
    }),
};
