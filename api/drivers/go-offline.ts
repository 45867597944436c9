import type { Shape } from '../../shared/base/json-schema.ts';
import { goOffline as putOffline } from '../../shared/drivers/change-availability.ts';
import { availability } from '../../shared/rides/driver/driver-schemas.ts';
import { inSteps } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

export const goOffline: DriverOperation = {
  id: 'goOffline',
  method: 'POST',
  path: '/me/offline',
  summary: 'Go offline',
  description:
    'No further ride is opened to you. Your current ride continues, and your offers stay live. The request has no body.',
  tag: 'driver',
  answer: {
    status: 200,
    description: 'Offline.',
    schema: availability,
    example: { available: false } satisfies Shape<typeof availability>,
  },
  errors: [],
  route: ({ authenticate }) =>
    inSteps(goOffline, {
      authenticate,
      validate: (_ctx, driver) => driver,
      act: ({ driverId }) => putOffline(driverId),
      present: (): Shape<typeof availability> => ({ available: false }),
    }),
};
