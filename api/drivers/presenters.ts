import type { Shape } from '../../shared/base/json-schema.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { reportLifeMs, type StoredPosition, shownPosition } from '../../shared/drivers/positions.ts';
import type { DriverRequest, DriverRides, RideOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import type { Location, MovingStatus, RideState, RideStatus } from '../../shared/rides/ride-types.ts';
import type * as answers from './answers.ts';
import type { ShownOutcome, ShownRequest, ShownRide } from './shown.ts';

/** A driver as the driver sees it. */
export function presentMe(
  driver: ActiveDriver,
  position: StoredPosition | null,
  { ride }: DriverRides,
  nowMs: number,
): Shape<typeof answers.profile> {
  const { driverId, name, rating, vehicle, plate, carType, seats } = driver;
  const isHeard = position !== null && Math.abs(nowMs - position.seenAt.getTime()) < reportLifeMs;
  return {
    driverId,
    name,
    rating,
    vehicle,
    plate,
    carType,
    seats,
    available: isHeard && position.isOnline && !ride,
    ...(position && { position: presentPosition(position) }),
    ...(ride && { rideId: ride._id }),
  };
}

function presentPosition(position: StoredPosition) {
  const { at, ...place } = shownPosition(position);
  return { ...place, at: at.getTime() };
}

/** The rides that are open to a driver. No passenger, notes or address: these are for the chosen driver alone. */
export const presentRequests = ({ requests }: DriverRides): Shape<typeof answers.requestList> => ({
  requests: requests.map(presentRequest),
});

function presentRequest({ ride, pickupKm, offer }: DriverRequest): ShownRequest {
  const { _id, fare, carType, rideType, passengerCount, pickup, destination, distanceKm, biddingEndsAt } = ride;
  return {
    rideId: _id,
    fare,
    carType,
    rideType,
    passengerCount,
    pickup: withoutAddress(pickup),
    destination: withoutAddress(destination),
    distanceKm,
    pickupKm,
    biddingEndsAt: biddingEndsAt.getTime(),
    ...(offer && { offer: { offerId: offer.offerId, price: offer.price, etaMinutes: offer.etaMinutes } }),
  };
}

const withoutAddress = ({ lat, lng }: Location) => ({ lat, lng });

/** The ride that a driver was chosen for, until its end. */
export const presentOwnRide = ({ ride }: DriverRides): Shape<typeof answers.ownRide> => ({
  ride: ride && ownRide(ride),
});

function ownRide(ride: RideOfDriver): ShownRide {
  const { fare, agreedPrice, carType, rideType, passengerCount, distanceKm, pickup, destination } = ride;
  return {
    rideId: ride._id,
    // `DriverRides.ride` is a moving ride, which has an accepted offer.
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
    ...(ride.passenger && { passenger: ride.passenger }),
    ...(ride.notes !== undefined && { notes: ride.notes }),
  };
}

/** How a ride that was opened to a driver went on: of another driver's ride no more than that. */
export function presentOutcome(
  { _id: rideId, status, driver, cancelledBy }: Pick<RideState, '_id' | 'status' | 'driver' | 'cancelledBy'>,
  driverId: string,
): ShownOutcome {
  if (driver && driver.driverId !== driverId) return { rideId, outcome: 'other_driver' };
  if (status === 'bidding') return { rideId, outcome: 'open' };
  if (status === 'cancelled') return { rideId, outcome: 'cancelled', cancelledBy };
  return { rideId, outcome: status === 'completed' ? 'completed' : 'chosen' };
}

/** The answer to a step of the chosen driver. */
export const presentStep = ({
  rideId,
  status,
}: {
  rideId: string;
  status: RideStatus;
}): Shape<typeof answers.stepTaken> => ({
  rideId,
  // No step leads to another status.
  status: status as Shape<typeof answers.stepTaken>['status'],
});
