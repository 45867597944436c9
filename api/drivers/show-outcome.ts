import { AppError } from '../../shared/base/errors.ts';
import type { Shape } from '../../shared/base/json-schema.ts';
import { readCommittedRide } from '../../shared/rides/read-ride.ts';
import type { RideState } from '../../shared/rides/ride-types.ts';
import { get, rideIdOf } from '../http/route.ts';
import { exampleRideId, outcome, type ShownOutcome } from './fields.ts';
import type { DriverOperation } from './operation.ts';

export const showOutcome: DriverOperation<'GET'> = {
  id: 'showOutcome',
  method: 'GET',
  path: '/requests/:rideId',
  summary: 'Show what became of a request',
  description:
    "Says how a ride went on that was opened to you, also after it left the list. Of another driver's ride it says no more than that.",
  tag: 'requests',
  answer: {
    status: 200,
    description: 'How the ride went on.',
    schema: outcome,
    example: { rideId: exampleRideId, outcome: 'cancelled', cancelledBy: 'partner' } satisfies Shape<typeof outcome>,
  },
  errors: ['ride_not_found'],
  route: ({ authenticate }) =>
    get(showOutcome, {
      authenticate: async (ctx) => {
        const { driverId } = await authenticate(ctx);
        const ride = await readCommittedRide({ rideId: rideIdOf(ctx), owner: { driverId } });
        if (!ride) throw new AppError('ride_not_found');
        return { ride, driverId };
      },
      present,
    }),
};

/** Of another driver's ride, only that it is another's. */
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
