import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { pick } from '../../shared/base/pick.ts';
import { maxReportAgeMs, readPosition, type StoredPosition, shownPosition } from '../../shared/drivers/positions.ts';
import { available } from '../../shared/rides/driver/driver-schemas.ts';
import { fields } from '../../shared/rides/fields.ts';
import {
  carType,
  heading,
  lat,
  lng,
  plate,
  rating,
  rideId,
  unixMs,
  vehicle,
} from '../../shared/rides/public-schemas.ts';
import { get } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

const answer = objectSchema(
  {
    driverId: { type: 'string', description: 'Your id.', examples: ['driver_5Jt2WmKx8QbR1v'] },
    name: { type: 'string', description: 'Your name, as partners see it.' },
    rating: {
      ...rating,
      description: 'Your rating, up to 5: the number of the operator, and from 5 rated rides on as partners see it.',
    },
    ratedRides: {
      type: 'integer',
      minimum: 5,
      maximum: 200,
      description: 'The number of rides whose ratings yours contains. Absent below 5.',
    },
    vehicle,
    plate,
    carType: { ...carType, description: 'The kind of your car.' },
    seats: { type: 'integer', minimum: 1, description: 'The number of passengers that fit in your car.' },
    equipment: {
      ...fields.needs.schema,
      description: 'The needs of rides that you and your car can serve. Present if there are any.',
    },
    available,
    position: objectSchema(
      {
        lat,
        lng,
        heading,
        at: unixMs('The time of the position'),
      },
      { description: 'Your last position. Present once you have been online.' },
    ),
    rideId: { ...rideId, description: 'The ride that you are on.' },
  },
  { title: 'DriverProfile', optional: ['ratedRides', 'equipment', 'position', 'rideId'] },
);

export const showProfile: DriverOperation = {
  id: 'showDriver',
  method: 'GET',
  path: '/me',
  summary: 'Show your profile',
  description: 'Shows your data as partners see it, your last position, and your availability.',
  tag: 'driver',
  answer: answerOf(200, 'The driver.', answer, {
    driverId: answer.properties.driverId.examples[0],
    name: 'Dana Okoye',
    rating: 4.82,
    ratedRides: 23,
    vehicle: 'Toyota Prius, blue',
    plate: 'T 104',
    carType: 'regular',
    seats: 4,
    equipment: ['child_seat', 'pet'],
    available: true,
    position: { lat: 40.7614, lng: -73.9776, heading: 210, at: 1_795_269_600_402 },
  }),
  errors: [],
  route: ({ service, authenticate, ridesOf }) =>
    get({
      authenticate: async (ctx) => {
        const driver = await authenticate(ctx);
        const { driverId } = driver;
        const [position, rides] = await Promise.all([readPosition(driverId), ridesOf(driverId)]);
        return { driver, position, rides };
      },
      present: ({ driver, position, rides: { ride } }): Shape<typeof answer> => {
        const isHeard = position !== null && Math.abs(service.now() - position.seenAt.getTime()) < maxReportAgeMs;
        return {
          ...pick(driver, 'driverId', 'name'),
          ...driver.own,
          ...pick(driver, 'vehicle', 'plate', 'carType', 'seats', 'equipment'),
          available: isHeard && position.isOnline && !ride,
          ...(position && { position: presentPosition(position) }),
          ...(ride && { rideId: ride._id }),
        };
      },
    }),
};

function presentPosition(position: StoredPosition) {
  const { at, ...place } = shownPosition(position);
  return { ...place, at: at.getTime() };
}
