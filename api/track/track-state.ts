import { type LiveLocation, positionAt } from '../../shared/rides/position.ts';
import type { Leg, Location, ReportedPosition, Ride, RideStatus } from '../../shared/rides/ride-types.ts';
import { type RideWithSteps, stepFields, stepsOf } from '../../shared/rides/steps.ts';
import { hasEnded, isMoving } from '../../shared/rides/transitions.ts';

/** A link works for this long after the ride's end. */
const linkLifeMs = 24 * 3_600_000;
/** For the ETA of a trip without a simulated leg: the average speed of a car in a town, with stops. */
const assumedKmPerHour = 30;

type Point = Pick<Location, 'lat' | 'lng'>;

/**
 * The data that the public live map shows to anyone with the link. No phone number, passenger, notes, fare, address,
 * key or account. Times are Unix ms, by MongoDB's clock.
 */
export interface TrackState {
  now: number;
  status: RideStatus;
  testMode: boolean;
  pickup: Point;
  destination: Point;
  /** The statuses so far, in order, with their start times. */
  steps: { status: RideStatus; at: number }[];
  driver?: { firstName: string; vehicle: string; plate: string; rating: number };
  /** The estimated arrival at the pickup or the destination, if known. */
  arrivesAt?: number;
  /** The last known position of the car. */
  position?: Point & { heading: number; at: number };
  /** The current drive of a simulated driver, from which the browser computes the position at any time. */
  leg?: { from: Point; to: Point; heading: number; startAt: number; endAt: number };
  /** The reason for the cancellation: no driver was found, or someone cancelled. */
  endedBy?: 'no_driver' | 'cancelled';
}

/** The projection for reading a ride for its map; `now` is MongoDB's clock. */
export const trackFields = {
  trackToken: 1,
  mode: 1,
  statusAt: 1,
  pickup: 1,
  destination: 1,
  distanceKm: 1,
  'driver.driverId': 1,
  'driver.name': 1,
  'driver.vehicle': 1,
  'driver.plate': 1,
  'driver.rating': 1,
  leg: 1,
  cancelledBy: 1,
  acceptedOfferId: 1,
  'offers.offerId': 1,
  'offers.etaMinutes': 1,
  ...stepFields,
  now: '$$NOW',
} as const;

export type TrackedRide = Pick<
  Ride,
  | '_id'
  | 'trackToken'
  | 'mode'
  | 'statusAt'
  | 'pickup'
  | 'destination'
  | 'distanceKm'
  | 'leg'
  | 'cancelledBy'
  | 'acceptedOfferId'
> &
  RideWithSteps & {
    driver?: { driverId: string; name: string; vehicle: string; plate: string; rating: number };
    reported?: ReportedPosition;
    offers: { offerId: string; etaMinutes: number }[];
    now: Date;
  };

/** The state of a ride for its map, or null if the link has expired. Pure. */
export function trackState(ride: TrackedRide): TrackState | null {
  const now = ride.now.getTime();
  if (hasRunOut(ride, now)) return null;
  const steps = stepsOf(ride).map(({ status, at }) => ({ status, at: at.getTime() }));
  const position = positionAt(ride, now);
  const drives = isMoving(ride.status) && ride.status !== 'arrived';
  const arrival = drives ? arrivesAt(ride) : undefined;
  return {
    now,
    status: ride.status,
    testMode: ride.mode === 'test',
    pickup: point(ride.pickup),
    destination: point(ride.destination),
    steps,
    ...(ride.driver && { driver: shownDriver(ride.driver) }),
    ...(arrival !== undefined && { arrivesAt: arrival }),
    ...(position && { position: shownPosition(position) }),
    ...(drives && ride.leg && { leg: shownLeg(ride.leg) }),
    ...(ride.status === 'cancelled' && {
      endedBy: steps.length === 2 && ride.cancelledBy === 'timeout' ? 'no_driver' : 'cancelled',
    }),
  };
}

/** True if the link to a ride's map has expired. Pure. */
export const hasRunOut = ({ status, statusAt }: Pick<Ride, 'status' | 'statusAt'>, nowMs: number): boolean =>
  hasEnded(status) && nowMs >= statusAt.getTime() + linkLifeMs;

const point = ({ lat, lng }: Point): Point => ({ lat, lng });

const shownPosition = ({ lat, lng, heading, at }: LiveLocation) => ({ lat, lng, heading, at });

const shownLeg = ({ from, to, heading, startAt, endAt }: Leg): TrackState['leg'] => ({
  from: point(from),
  to: point(to),
  heading,
  startAt: startAt.getTime(),
  endAt: endAt.getTime(),
});

function shownDriver({ name, vehicle, plate, rating }: NonNullable<TrackedRide['driver']>): TrackState['driver'] {
  return { firstName: name.trim().split(/\s+/)[0] ?? '', vehicle, plate, rating };
}

function arrivesAt({ status, statusAt, leg, offers, acceptedOfferId, distanceKm }: TrackedRide): number | undefined {
  if (leg) return leg.endAt.getTime();
  const since = statusAt.getTime();
  if (status === 'in_progress') return since + (distanceKm / assumedKmPerHour) * 3_600_000;
  const offer = offers.find(({ offerId }) => offerId === acceptedOfferId);
  return offer && since + offer.etaMinutes * 60_000;
}
