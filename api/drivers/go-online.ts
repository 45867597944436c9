import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import type { Shape } from '../../shared/base/json-schema.ts';
import { durableRead } from '../../shared/base/mongo/durable-read.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { goOnline as putOnline } from '../../shared/drivers/change-availability.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { availability, examplePlace } from '../../shared/rides/driver/driver-schemas.ts';
import { settleDriver } from '../../shared/rides/driver/settle-driver.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps } from '../http/route.ts';
import { latitude, longitude, validate } from '../http/validate.ts';
import type { DriverOperation } from './driver-operation.ts';

const schema = bodySchema<Point>('DriverPlace', { lat: latitude, lng: longitude });

export const goOnline: DriverOperation = {
  id: 'goOnline',
  method: 'POST',
  path: '/me/online',
  summary: 'Go online',
  description: 'From now on, rides near this place are opened to you, as long as you report your position.',
  tag: 'driver',
  body: { schema, examples: { 'A place': examplePlace } },
  answer: {
    status: 200,
    description: 'Online. `available` is `false` only while you are on a ride.',
    schema: availability,
    example: { available: true } satisfies Shape<typeof availability>,
  },
  errors: ['payload_too_large'],
  route: ({ service, authenticate }) =>
    inSteps(goOnline, {
      authenticate,
      validate: async (ctx, driver) => ({ driver, place: validate(schema, await readJsonBody(ctx)) }),
      act: ({ driver, place }) => goOnlineAt(service, driver, place),
      present: (available): Shape<typeof availability> => ({ available }),
    }),
};

/**
 * Puts the driver online. Resolves with true if rides are opened to the driver now; a driver who is on a ride becomes
 * available after the ride.
 */
async function goOnlineAt(service: Context, driver: ActiveDriver, place: Point): Promise<boolean> {
  await putOnline(driver, place, new Date(service.now()));
  const { rideId, isActive } = await durableRead(
    () => settleDriver(service, driver.driverId),
    (settled) => settled.rideId === null && settled.isActive,
  );
  // The driver was suspended after this request was authenticated, so settleDriver has put the driver offline again.
  if (!isActive) throw new AppError('unauthorized');
  return rideId === null;
}
