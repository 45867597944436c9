import bearing from '@turf/bearing';
import destination from '@turf/destination';
import { earthRadiusKm, greatCircleKm, haversineKm, radians } from '../base/great-circle.ts';
import type { Leg, Location, MovingStatus, ReportedPosition, RideState } from './ride-types.ts';
import { isMoving } from './transitions.ts';

export interface LiveLocation {
  lat: number;
  lng: number;
  /** Degrees clockwise from north, 0 to 360. */
  heading: number;
  status: MovingStatus;
  /** The time of this position, in Unix ms. */
  at: number;
}

/** Positions stay a centimetre away from the poles: turf's functions need a longitude, and a pole has none. */
const maxLatitude = 89.9999999;
const point = ({ lat, lng }: Location): [lng: number, lat: number] => [
  lng,
  Math.min(maxLatitude, Math.max(-maxLatitude, lat)),
];
const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

const toDegrees = (inRadians: number): number => (inRadians * 180) / Math.PI;

/** The point `km` away from `from` in the direction `heading` (degrees clockwise from north). */
export function pointAt(from: Location, km: number, heading: number): Location {
  const [lng = 0, lat = 0] = destination(point(from), km, heading).geometry.coordinates;
  return { lat: rounded(lat, 6), lng: rounded(((((lng + 180) % 360) + 360) % 360) - 180, 6) };
}

/** The drive from one place to another. If both are the same place, the car keeps `lastHeading`. */
export function legBetween(from: Location, to: Location, startAt: Date, durationMs: number, lastHeading = 0): Leg {
  return {
    from: { lat: from.lat, lng: from.lng },
    to: { lat: to.lat, lng: to.lng },
    heading: isSamePlace({ from, to }) ? lastHeading : headingAfter({ from, to }, 0),
    startAt,
    endAt: new Date(startAt.getTime() + durationMs),
  };
}

/**
 * The car's position at a time (Unix ms); null in a status for which the contract shows no position (section 2.1). In
 * live mode it is the driver's last reported position. Pure.
 */
export function positionAt(
  { leg, status, reported }: Pick<RideState, 'status' | 'leg'> & { reported?: ReportedPosition },
  nowMs: number,
): LiveLocation | null {
  if (!isMoving(status)) return null;
  if (reported) return { ...reported, status, at: reported.at.getTime() };
  if (!leg) return null;
  const place = placeOnLeg(leg, status === 'arrived' ? Number(leg.endAt) : nowMs);
  return { ...place, status, at: Math.round(nowMs) };
}

/** A leg as MongoDB stores it, or as a browser receives it, with times in Unix ms. */
type TimedLeg = Pick<Leg, 'from' | 'to' | 'heading'> & Record<'startAt' | 'endAt', Date | number>;

/** The place and heading, at a time (Unix ms), of a car that drives a leg. */
export function placeOnLeg(leg: TimedLeg, nowMs: number): { lat: number; lng: number; heading: number } {
  const duration = Number(leg.endAt) - Number(leg.startAt);
  const share = duration > 0 ? Math.min(1, Math.max(0, (nowMs - Number(leg.startAt)) / duration)) : 1;
  // Stryker disable next-line ConditionalExpression: the computed place is the same, but for its rounding
  if (share === 1) return { lat: leg.to.lat, lng: leg.to.lng, heading: arrivalHeading(leg) };
  const km = share * haversineKm(leg.from, leg.to);
  const { lat, lng } = pointAt(leg.from, km, initialBearing(leg));
  return { lat, lng, heading: isSamePlace(leg) ? leg.heading : headingAfter(leg, km) };
}

/** The heading at the end of a drive, which the car keeps while it waits. */
export function arrivalHeading(leg: Pick<Leg, 'from' | 'to' | 'heading'>): number {
  return isSamePlace(leg) ? leg.heading : headingAfter(leg, haversineKm(leg.from, leg.to));
}

type Route = Pick<Leg, 'from' | 'to'>;

const isSamePlace = ({ from, to }: Route): boolean => greatCircleKm(from, to) === 0;

/** The heading at the start of the great circle, in degrees clockwise from north. */
export const initialBearing = ({ from, to }: Route): number => bearing(point(from), point(to));

/**
 * The heading after `km` along a great circle. It changes on the way, except along a meridian or the equator. It is
 * computed from the start, because near the end the bearing to the end is inaccurate.
 */
function headingAfter(route: Route, km: number): number {
  const start = radians(initialBearing(route));
  const lat = radians(point(route.from)[1]);
  const done = km / earthRadiusKm;
  const east = Math.sin(start) * Math.cos(lat);
  const north = Math.cos(start) * Math.cos(lat) * Math.cos(done) - Math.sin(lat) * Math.sin(done);
  return rounded((toDegrees(Math.atan2(east, north)) + 360) % 360, 1) % 360;
}
