import { callUrl } from '../../shared/base/call-url.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import type { DriverRides, RideOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { fieldsIn, shownFields } from '../../shared/rides/fields.ts';
import type { MovingStatus } from '../../shared/rides/ride-types.ts';
import { get } from '../http/route.ts';
import { exampleRideId, exampleWish, ride, type ShownRide } from './fields.ts';
import type { DriverOperation } from './operation.ts';

const answer = objectSchema(
  { ride: { anyOf: [ride, { type: 'null' }], description: '`null` while you are not on a ride.' } },
  { title: 'DriverOwnRide' },
);

export const showOwnRide: DriverOperation<'GET'> = {
  id: 'showOwnRide',
  method: 'GET',
  path: '/ride',
  summary: 'Show your ride',
  description: 'Shows the ride that you were chosen for, with addresses, passenger and notes, until it ends.',
  tag: 'trip',
  answer: {
    status: 200,
    description: 'Your ride, or `null`.',
    schema: answer,
    example: {
      ride: {
        rideId: exampleRideId,
        status: 'driver_arriving',
        statusAt: 1_795_269_605_127,
        agreedPrice: 26,
        ...exampleWish,
        pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
        destination: { lat: 40.7128, lng: -74.006 },
        passenger: { name: 'Sam Lee', phone: '+12025550178', callUrl: 'tel:+12025550178' },
        notes: 'Two suitcases; waiting at the main entrance.',
      },
    } satisfies Shape<typeof answer>,
  },
  errors: [],
  route: ({ authenticate, ridesOf }) =>
    get(showOwnRide, {
      authenticate: async (ctx) => ridesOf((await authenticate(ctx)).driverId),
      present: presentOwnRide,
    }),
};

/** The ride that a driver was chosen for, until the ride ends; null without one. */
export const presentOwnRide = ({ ride }: DriverRides): Shape<typeof answer> => ({ ride: ride && presentRide(ride) });

function presentRide(ride: RideOfDriver): ShownRide {
  const { fare, agreedPrice, carType, rideType, passengerCount, distanceKm, pickup, destination } = ride;
  return {
    rideId: ride._id,
    // `DriverRides.ride` always has a moving status, and so an accepted offer.
    status: ride.status as MovingStatus,
    statusAt: ride.statusAt.getTime(),
    fare,
    agreedPrice: agreedPrice as number,
    carType,
    rideType,
    passengerCount,
    distanceKm,
    pickup,
    destination,
    ...shownFields(ride, fieldsIn('ownRide')),
    ...(ride.passenger && { passenger: presentPassenger(ride.passenger) }),
  };
}

function presentPassenger(passenger: NonNullable<RideOfDriver['passenger']>): ShownRide['passenger'] {
  const url = passenger.phone && callUrl(passenger.phone);
  return { ...passenger, ...(url && { callUrl: url }) };
}
