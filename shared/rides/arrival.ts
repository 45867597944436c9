import { haversineKm } from '../base/great-circle.ts';
import { decodeLine, lengthKm, nearestOn, type Path, pathAlong } from './path.ts';
import { legEnd, presentRoute } from './position.ts';
import type { Offer, ReportedPosition, Ride } from './ride-types.ts';

/** When cars arrive. Pure: browsers use this file too. */

/** The average speed of a car in a town, with stops. */
export const assumedKmPerHour = 30;
/**
 * The way through the streets is longer than the great circle by about this factor. Measured medians are 1.48 in a grid
 * (Manhattan) and 2.0 beside a river (Gothenburg). This is between them, so it is wrong by at most 15 % in both.
 */
const detour = 1.7;
export const hourMs = 3_600_000;

/** The estimated duration (ms) of a drive between two places that are `km` apart. Pure. */
export const driveMs = (km: number, kmPerHour = assumedKmPerHour): number => ((km * detour) / kmPerHour) * hourMs;

/** A driver is late if the arrival was expected at least this long ago. */
export const lateMs = 60_000;

/** When a car on its way is expected at the pickup or the destination (Unix ms), if that is known. Pure. */
export function promisedArrival(
  ride: Pick<Ride, 'status' | 'statusAt' | 'leg' | 'acceptedOfferId' | 'distanceKm' | 'pickupAt'> & {
    offers: readonly Pick<Offer, 'offerId' | 'etaMinutes'>[];
  },
): number | undefined {
  const { status, statusAt, leg, offers, acceptedOfferId, distanceKm, pickupAt } = ride;
  if (leg) return leg.endAt.getTime();
  const since = statusAt.getTime();
  if (status === 'in_progress') return since + driveMs(distanceKm);
  const offer = offers.find(({ offerId }) => offerId === acceptedOfferId);
  // The driver of a ride for later need not be there before its time.
  return offer && Math.max(since + offer.etaMinutes * 60_000, pickupAt?.getTime() ?? 0);
}

/** When a car is expected at the end of its leg: the pickup or the destination. */
export interface Eta {
  /** Whole minutes from now, rounded up. */
  minutes: number;
  /** Unix ms. Not before now, and a car does not come before the `pickupAt` of a ride for later. */
  at: number;
  /** From the road to drive; or else from the great circle, or from what the driver has promised. */
  source: 'route' | 'estimate';
}

/** A ride with the fields on which its ETA depends. */
export type ExpectedRide = Parameters<typeof promisedArrival>[0] &
  Pick<Ride, 'route' | 'pickup' | 'destination'> & { reported?: ReportedPosition };

/** The projection for `etaOf`. */
export const etaFields = { leg: 1, route: 1, acceptedOfferId: 1, 'offers.offerId': 1, 'offers.etaMinutes': 1 } as const;
export type EtaFields = Pick<Ride, 'leg' | 'route' | 'acceptedOfferId'> & {
  offers: Pick<Offer, 'offerId' | 'etaMinutes'>[];
};

/**
 * The ETA of a ride whose car is on its way (`driver_arriving`, `in_progress`) at a time (Unix ms); undefined in every
 * other status. Everything that shows an ETA uses this function. Pure.
 */
export function etaOf(ride: ExpectedRide, nowMs: number): Eta | undefined {
  const { status, leg, pickupAt, reported } = ride;
  if (status !== 'driver_arriving' && status !== 'in_progress') return undefined;
  const byRoad = leg ? (presentRoute(ride)?.road ? leg.endAt.getTime() : undefined) : arrivalByRoad(ride);
  const byCircle = () =>
    leg || !reported
      ? promisedArrival(ride)
      : drivesOnSince(ride, reported) + driveMs(haversineKm(reported, ride[legEnd(status)]));
  const expected = byRoad ?? byCircle();
  if (expected === undefined) return undefined;
  const earliest = status === 'driver_arriving' ? (pickupAt?.getTime() ?? 0) : 0;
  const at = Math.round(Math.max(expected, earliest, nowMs));
  return { minutes: Math.ceil((at - nowMs) / 60_000), at, source: byRoad === undefined ? 'estimate' : 'route' };
}

/** Since when a car drives on from its last report (Unix ms): a driver may have last reported before the leg began. */
const drivesOnSince = ({ statusAt }: ExpectedRide, { at }: ReportedPosition): number =>
  Math.max(at.getTime(), statusAt.getTime());

/** A car that is farther from its route has left it. */
export const offRouteKm = 0.15;
/** The duration of the route counts as much as this time of driving, so that a red light changes little. */
const trustedMs = 120_000;
/** A car is taken for at most this many times as slow or as fast as the routing server computes. */
const mostSlowness = 2;

/** The line of the present route; null without a road. */
export function routePath(ride: Pick<Ride, 'status' | 'route'>): Path | null {
  const points = decodeLine(presentRoute(ride)?.road?.line ?? '') ?? [];
  return points.length > 1 ? pathAlong(points) : null;
}

/** The arrival of a real car along its road, at its own speed so far; undefined if it has left the road. */
function arrivalByRoad(ride: ExpectedRide): number | undefined {
  const { reported, status, pickupAt } = ride;
  const { road, at: since } = presentRoute(ride) ?? {};
  const path = routePath(ride);
  if (!reported || !road || !since || !path) return undefined;
  const { offKm, km } = nearestOn(path, reported);
  if (offKm > offRouteKm) return undefined;
  const share = lengthKm(path) > 0 ? km / lengthKm(path) : 1;
  const drivenMs = Math.max(0, reported.at.getTime() - since.getTime());
  const slowness = (drivenMs + trustedMs) / (share * road.seconds * 1_000 + trustedMs);
  // The driver of a ride for later may have waited before the drive began.
  const isMeasured = !(pickupAt && status === 'driver_arriving');
  const factor = isMeasured ? Math.min(mostSlowness, Math.max(1 / mostSlowness, slowness)) : 1;
  return drivesOnSince(ride, reported) + (1 - share) * road.seconds * 1_000 * factor;
}

/** A ride whose car will arrive at least this long after its time is marked before it happens. */
const willBeLateMs = 3 * 60_000;

/**
 * How late (ms) a car will be at the pickup, by its present ETA: compared with `pickupAt`, or else with the ETA of the
 * accepted offer. Null if it will be less than 3 minutes late. Pure.
 */
export function latenessAhead(ride: ExpectedRide, nowMs: number): number | null {
  const promised = ride.pickupAt?.getTime() ?? promisedArrival(ride);
  const eta = ride.status === 'driver_arriving' ? etaOf(ride, nowMs) : undefined;
  const lateness = eta && promised !== undefined ? eta.at - promised : 0;
  return lateness >= willBeLateMs ? lateness : null;
}
