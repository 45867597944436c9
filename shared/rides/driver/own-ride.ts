import { callUrl } from '../../base/call-url.ts';
import { pick } from '../../base/pick.ts';
import { shownNotes } from '../driver-notes.ts';
import { fieldsIn, shownFields } from '../fields.ts';
import { presentRoute } from '../position.ts';
import type { MovingStatus } from '../ride-types.ts';
import type { DriverRides, RideOfDriver } from './driver-rides.ts';
import type { ShownRide } from './driver-schemas.ts';

/** The ride that a driver was chosen for, until the ride ends; null without one. */
export const presentOwnRide = ({ ride }: DriverRides): { ride: ShownRide | null } => ({
  ride: ride && presentRide(ride),
});

function presentRide(ride: RideOfDriver): ShownRide {
  const road = presentRoute(ride)?.road;
  return {
    rideId: ride._id,
    // `DriverRides.ride` always has a moving status, and so an accepted offer.
    status: ride.status as MovingStatus,
    statusAt: ride.statusAt.getTime(),
    fare: ride.fare,
    agreedPrice: ride.agreedPrice as number,
    ...pick(ride, 'carType', 'rideType', 'passengerCount', 'distanceKm', 'pickup', 'destination', 'eta'),
    ...(road && ride.status !== 'arrived' && { road: road.line }),
    ...shownNotes(ride),
    ...shownFields(ride, fieldsIn('ownRide')),
    ...(ride.passenger && { passenger: presentPassenger(ride.passenger) }),
  };
}

function presentPassenger(passenger: NonNullable<RideOfDriver['passenger']>): ShownRide['passenger'] {
  const url = passenger.phone && callUrl(passenger.phone);
  return { ...passenger, ...(url && { callUrl: url }) };
}
