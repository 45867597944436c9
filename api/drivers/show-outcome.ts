import { AppError } from '../../shared/base/errors.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { exampleRideId, outcome, type ShownOutcome } from '../../shared/rides/driver/driver-schemas.ts';
import { readCommittedRide } from '../../shared/rides/read-ride.ts';
import type { RideState } from '../../shared/rides/ride-types.ts';
import { get, rideIdOf } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

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
      present,
    }),
};

/** The outcome as a driver sees it. If another driver was chosen, it is only `other_driver`. */
function present({
  ride: { _id: rideId, status, driver, cancelledBy },
  driverId,
}: {
  ride: Pick<RideState, '_id' | 'status' | 'driver' | 'cancelledBy'>;
  driverId: string;
}): ShownOutcome {
  if (driver && driver.driverId !== driverId) return { rideId, outcome: 'other_driver' };
  if (status === 'bidding') return { rideId, outcome: 'open' };
  if (status === 'cancelled') return { rideId, outcome: 'cancelled', cancelledBy };
  return { rideId, outcome: status === 'completed' ? 'completed' : 'chosen' };
}
