import Joi from 'joi';
import { answerOf } from '../../shared/base/operation.ts';
import { tripsOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { exampleRideId, type ShownTrips, trips } from '../../shared/rides/driver/driver-schemas.ts';
import { inSteps } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import type { DriverOperation } from './driver-operation.ts';

const dayMs = 24 * 3_600_000;
const longestMs = 7 * dayMs;

const query = Joi.object<{ since?: number }>({
  since: Joi.number()
    .integer()
    .min(0)
    .max(99_999_999_999_999)
    .empty('')
    .description(
      'The start of the period, as Unix time in milliseconds. An earlier time counts as 7 days ago. Default: 24 hours ago.',
    ),
});

export const showTrips: DriverOperation = {
  id: 'showTrips',
  method: 'GET',
  path: '/trips',
  summary: 'Show your earnings',
  description: 'Shows how many trips you completed since a time, their total price, and your last trip.',
  tag: 'trip',
  query,
  answer: answerOf(200, 'Your trips and earnings.', trips, {
    since: 1_795_237_200_000,
    trips: 3,
    earned: 81.5,
    last: { rideId: exampleRideId, completedAt: 1_795_269_600_402, agreedPrice: 26, distanceKm: 5.31 },
  }),
  errors: [],
  route: ({ service, authenticate }) =>
    inSteps(showTrips, {
      authenticate,
      validate: (ctx, { driverId }) => {
        const now = Math.floor(service.now());
        const { since = now - dayMs } = queryOf(query, ctx);
        return { driverId, since: Math.max(since, now - longestMs) };
      },
      act: async ({ driverId, since }) => ({ since, ...(await tripsOfDriver(driverId, new Date(since))) }),
      present: ({ last, ...sums }): ShownTrips => ({
        ...sums,
        ...(last && {
          last: {
            rideId: last._id,
            completedAt: last.statusAt.getTime(),
            agreedPrice: last.agreedPrice as number,
            distanceKm: last.distanceKm,
          },
        }),
      }),
    }),
};
