import bearing from '@turf/bearing';
import destination from '@turf/destination';
import { earthRadiusKm, greatCircleKm, haversineKm, radians } from '../base/great-circle.ts';
import { decodeLine, lengthKm, type Path, pathAlong, pointAlong, restAfter } from './path.ts';
import type { Leg, Location, MovingStatus, ReportedPosition, RideState, Route } from './ride-types.ts';
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
  ride: Pick<RideState, 'status' | 'leg' | 'route'> & { reported?: ReportedPosition },
  nowMs: number,
): LiveLocation | null {
  const { status, reported } = ride;
  if (!isMoving(status)) return null;
  if (reported) return { ...reported, status, at: reported.at.getTime() };
  const leg = presentLeg(ride);
  if (!leg) return null;
  const place = placeOnLeg(leg, status === 'arrived' ? Number(leg.endAt) : nowMs);
  return { ...place, status, at: Math.round(nowMs) };
}

/** A leg as MongoDB stores it, or as a browser receives it, with times in Unix ms. */
export type TimedLeg = Pick<Leg, 'from' | 'to' | 'heading'> &
  Record<'startAt' | 'endAt', Date | number> & {
    /** The line of the route, and the time at which the car joins it. */
    road?: { line: string; joinAt: Date | number };
  };

/** The end of the ride's present or last leg; while it is bidding, of its first one. */
export const legEnd = (status: RideState['status']): Route['to'] =>
  status === 'bidding' || status === 'driver_arriving' || status === 'arrived' ? 'pickup' : 'destination';

/** The route of the ride's present leg, if there is one. */
export const presentRoute = ({ status, route }: Pick<RideState, 'status' | 'route'>): Route | undefined =>
  route?.to === legEnd(status) ? route : undefined;

/** The present or last simulated drive, with the line of its route. */
export function presentLeg(ride: Pick<RideState, 'status' | 'leg' | 'route'>): TimedLeg | undefined {
  const { road, at } = presentRoute(ride) ?? {};
  return ride.leg && { ...ride.leg, ...(road && at && { road: { line: road.line, joinAt: at } }) };
}

/**
 * The place and heading, at a time (Unix ms), of a car that drives a leg: along the great circle until it joins the
 * road, then along the road. It never jumps, and never drives back.
 */
export function placeOnLeg(leg: TimedLeg, nowMs: number): { lat: number; lng: number; heading: number } {
  // Stryker disable next-line ConditionalExpression: the computed place is the same, but for its rounding
  if (shareAt(leg, nowMs) === 1) return { lat: leg.to.lat, lng: leg.to.lng, heading: arrivalHeading(leg) };
  const [road, joinAt] = [roadAhead(leg), Number(leg.road?.joinAt)];
  return road && nowMs >= joinAt
    ? placeAlong(road, (lengthKm(road) * (nowMs - joinAt)) / (Number(leg.endAt) - joinAt))
    : placeOnCircle(leg, nowMs);
}

/** The share of a leg's time that has passed, 0 to 1. */
function shareAt({ startAt, endAt }: TimedLeg, nowMs: number): number {
  const duration = Number(endAt) - Number(startAt);
  return duration > 0 ? Math.min(1, Math.max(0, (nowMs - Number(startAt)) / duration)) : 1;
}

function placeOnCircle(leg: TimedLeg, nowMs: number): { lat: number; lng: number; heading: number } {
  const km = shareAt(leg, nowMs) * haversineKm(leg.from, leg.to);
  const { lat, lng } = pointAt(leg.from, km, initialBearing(leg));
  return { lat, lng, heading: isSamePlace(leg) ? leg.heading : headingAfter(leg, km) };
}

function placeAlong(road: Path, km: number): { lat: number; lng: number; heading: number } {
  const { at, from, to } = pointAlong(road, km);
  return { lat: rounded(at.lat, 6), lng: rounded(at.lng, 6), heading: headingAfter({ from, to }, 0) };
}

/** Kept, because a browser asks for a place many times a second. */
const roadsAhead = new WeakMap<TimedLeg, Path | null>();

/**
 * The road that a car drives from the moment at which it joins it: from its place on the great circle to the part of
 * the route that is left. Null without a route, or if the leg has ended by then.
 */
function roadAhead(leg: TimedLeg): Path | null {
  const known = roadsAhead.get(leg);
  if (known !== undefined) return known;
  const points = leg.road && Number(leg.road.joinAt) < Number(leg.endAt) ? decodeLine(leg.road.line) : null;
  let road: Path | null = null;
  if (points && leg.road) {
    const whole = pathAlong([leg.from, ...points, leg.to]);
    const joinAt = Number(leg.road.joinAt);
    road = restAfter(whole, shareAt(leg, joinAt) * lengthKm(whole), placeOnCircle(leg, joinAt));
  }
  const drawn = road && lengthKm(road) > 0 ? road : null;
  roadsAhead.set(leg, drawn);
  return drawn;
}

/** The line that a car with a road drives in a leg, from its start to its end; null without a road. */
export function lineOfLeg(leg: TimedLeg): readonly Pick<Location, 'lat' | 'lng'>[] | null {
  const road = roadAhead(leg);
  return road && [leg.from, ...road.points];
}

/** The heading at the end of a drive, which the car keeps while it waits. */
export function arrivalHeading(leg: TimedLeg): number {
  const road = roadAhead(leg);
  if (road) return placeAlong(road, lengthKm(road)).heading;
  return isSamePlace(leg) ? leg.heading : headingAfter(leg, haversineKm(leg.from, leg.to));
}

type Way = Pick<Leg, 'from' | 'to'>;

const isSamePlace = ({ from, to }: Way): boolean => greatCircleKm(from, to) === 0;

/** The heading at the start of the great circle, in degrees clockwise from north. */
export const initialBearing = ({ from, to }: Way): number => bearing(point(from), point(to));

/**
 * The heading after `km` along a great circle. It changes on the way, except along a meridian or the equator. It is
 * computed from the start, because near the end the bearing to the end is inaccurate.
 */
function headingAfter(way: Way, km: number): number {
  const start = radians(initialBearing(way));
  const lat = radians(point(way.from)[1]);
  const done = km / earthRadiusKm;
  const east = Math.sin(start) * Math.cos(lat);
  const north = Math.cos(start) * Math.cos(lat) * Math.cos(done) - Math.sin(lat) * Math.sin(done);
  return rounded((toDegrees(Math.atan2(east, north)) + 360) % 360, 1) % 360;
}
