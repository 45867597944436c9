import { type Eta, etaOf, promisedArrival } from '../../shared/rides/arrival.ts';
import { waitsToOpen } from '../../shared/rides/opening.ts';
import { placeOnLeg, positionAt, presentLeg, presentRoute, type TimedLeg } from '../../shared/rides/position.ts';
import type { Location, ReportedPosition, Ride, RideStatus } from '../../shared/rides/ride-types.ts';
import { type RideWithSteps, stepFields, stepsOf } from '../../shared/rides/steps.ts';
import { hasEnded, isMoving } from '../../shared/rides/transitions.ts';

/** A link works for this long after the ride's end. */
const linkLifeMs = 24 * 3_600_000;

type Point = Pick<Location, 'lat' | 'lng'>;

/**
 * The data that the public live map shows to anyone with the link. No phone number, passenger, notes, fare, key or
 * account. Times are Unix ms, by MongoDB's clock.
 */
export interface TrackState {
  now: number;
  status: RideStatus;
  testMode: boolean;
  /** The places, with the addresses that the partner gave. */
  pickup: Location;
  destination: Location;
  distanceKm: number;
  /** The statuses so far, in order, with their start times. */
  steps: { status: RideStatus; at: number }[];
  /** The PIN that the passenger tells the driver, until the trip starts. */
  pin?: string;
  driver?: { firstName: string; vehicle: string; plate: string; rating: number };
  /**
   * The expected arrival at the pickup or the destination: the end of the simulated drive, the ETA that the driver
   * promised, or for a live trip the first estimate of its duration.
   */
  arrivesAt?: number;
  /** The present estimate of the arrival. */
  eta?: Omit<Eta, 'minutes'>;
  /** The last known position of the car. A completed ride keeps the position of its end. */
  position?: Point & { heading: number; at: number };
  /** The current drive of a simulated driver, from which the browser computes the position at any time. */
  leg?: {
    from: Point;
    to: Point;
    heading: number;
    startAt: number;
    endAt: number;
    /** The line of the route, which the car joins at a time. */
    road?: { line: string; joinAt: number };
  };
  /**
   * The line of the road of the leg, with the place before it, if `leg` has none: of a real car that drives, or of a
   * completed trip.
   */
  road?: { from?: Point; line: string };
  /** The time of the pickup of a ride for later, and from when drivers are asked while that is ahead. */
  pickupAt?: number;
  opensAt?: number;
  /**
   * The reason for the cancellation: no driver was found, the driver cancelled and another ride replaces this one, or
   * someone cancelled.
   */
  endedBy?: 'no_driver' | 'replaced' | 'cancelled';
  /** The ride was rated. */
  isRated?: true;
}

/** The projection for reading a ride for its map; `now` is MongoDB's clock. */
export const trackFields = {
  keyId: 1,
  accountId: 1,
  trackToken: 1,
  pinCode: 1,
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
  route: 1,
  lastPosition: 1,
  cancelledBy: 1,
  nextRideId: 1,
  replacedBy: 1,
  pickupAt: 1,
  biddingOpensAt: 1,
  openedAt: 1,
  acceptedOfferId: 1,
  'offers.offerId': 1,
  'offers.etaMinutes': 1,
  'rating.at': 1,
  ...stepFields,
  now: '$$NOW',
} as const;

export type TrackedRide = Pick<Ride, '_id' | (keyof typeof trackFields & keyof Ride)> &
  RideWithSteps & {
    driver?: { driverId: string; name: string; vehicle: string; plate: string; rating: number };
    reported?: ReportedPosition;
    offers: { offerId: string; etaMinutes: number }[];
    rating?: { at: Date };
    now: Date;
  };

/** The state of a ride for its map, or null if the link has expired. Pure. */
export function trackState(ride: TrackedRide): TrackState | null {
  const now = ride.now.getTime();
  if (hasRunOut(ride, now)) return null;
  const steps = stepsOf(ride).map(({ status, at }) => ({ status, at: at.getTime() }));
  const position = carPosition(ride, now);
  const leg = presentLeg(ride);
  const drives = isMoving(ride.status) && ride.status !== 'arrived';
  const eta = etaOf(ride, now);
  const arrival = drives ? promisedArrival(ride) : undefined;
  return {
    now,
    status: ride.status,
    testMode: ride.mode === 'test',
    pickup: place(ride.pickup),
    destination: place(ride.destination),
    distanceKm: ride.distanceKm,
    steps,
    ...(ride.pinCode && showsPin(ride.status) && { pin: ride.pinCode }),
    ...(ride.driver && { driver: shownDriver(ride.driver) }),
    ...(arrival !== undefined && { arrivesAt: arrival }),
    ...(eta && { eta: { at: eta.at, source: eta.source } }),
    ...(position && { position }),
    ...(drives && leg ? { leg: shownLeg(leg) } : (drives || ride.status === 'completed') && shownRoad(ride)),
    ...(ride.pickupAt && { pickupAt: ride.pickupAt.getTime() }),
    ...(ride.status === 'bidding' && waitsToOpen(ride) && { opensAt: ride.biddingOpensAt?.getTime() }),
    ...(ride.status === 'cancelled' && { endedBy: endedBy(ride, steps.length === 2) }),
    ...(ride.rating && { isRated: true }),
  };
}

const showsPin = (status: RideStatus): boolean => status === 'driver_arriving' || status === 'arrived';

function endedBy({ nextRideId, cancelledBy }: TrackedRide, wasBidding: boolean): TrackState['endedBy'] {
  if (nextRideId) return 'replaced';
  return wasBidding && cancelledBy === 'timeout' ? 'no_driver' : 'cancelled';
}

/** True if the link to a ride's map has expired. Pure. */
export const hasRunOut = ({ status, statusAt }: Pick<Ride, 'status' | 'statusAt'>, nowMs: number): boolean =>
  hasEnded(status) && nowMs >= statusAt.getTime() + linkLifeMs;

const point = ({ lat, lng }: Point): Point => ({ lat, lng });

const place = ({ lat, lng, address }: Location): Location => ({ lat, lng, ...(address?.trim() && { address }) });

function carPosition(ride: TrackedRide, now: number): TrackState['position'] | null {
  if (ride.status === 'completed') return lastPosition(ride);
  const found = positionAt(ride, now);
  return found && { lat: found.lat, lng: found.lng, heading: found.heading, at: found.at };
}

/** The car at the end of a completed ride. Later positions of the driver are not shown. */
function lastPosition(ride: TrackedRide): TrackState['position'] | null {
  const { lastPosition: reported, statusAt } = ride;
  const leg = presentLeg(ride);
  if (reported) return { lat: reported.lat, lng: reported.lng, heading: reported.heading, at: reported.at.getTime() };
  return leg ? { ...placeOnLeg(leg, Number(leg.endAt)), at: statusAt.getTime() } : null;
}

const shownLeg = ({ from, to, heading, startAt, endAt, road }: TimedLeg): TrackState['leg'] => ({
  from: point(from),
  to: point(to),
  heading,
  startAt: Number(startAt),
  endAt: Number(endAt),
  ...(road && { road: { line: road.line, joinAt: Number(road.joinAt) } }),
});

function shownRoad(ride: TrackedRide): Pick<TrackState, 'road'> | undefined {
  const { from, road } = presentRoute(ride) ?? {};
  return road && { road: { ...(from && { from: point(from) }), line: road.line } };
}

function shownDriver({ name, vehicle, plate, rating }: NonNullable<TrackedRide['driver']>): TrackState['driver'] {
  return { firstName: name.trim().split(/\s+/)[0] ?? '', vehicle, plate, rating };
}
