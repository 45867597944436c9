import { haversineKm, type Point, radians } from '../../shared/base/great-circle.ts';

/** Distances and directions, as a driver reads them. Pure. */

export interface Way {
  km: number;
  /** Clockwise from north. Absent for a place that is here, or if the start is unknown. */
  degrees?: number;
  /** `north-east`, or `here`; empty if the start is unknown. */
  words: string;
}

const compass = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'] as const;
/** Nearer than this, a direction means nothing: a phone's position is not more exact. */
const hereKm = 0.05;

/** The direction from one place to another, in degrees clockwise from north. */
export function bearing(from: Point, to: Point): number {
  const [lat, toLat, east] = [radians(from.lat), radians(to.lat), radians(to.lng - from.lng)];
  const x = Math.sin(east) * Math.cos(toLat);
  const y = Math.cos(lat) * Math.sin(toLat) - Math.sin(lat) * Math.cos(toLat) * Math.cos(east);
  return ((Math.atan2(x, y) * 180) / Math.PI + 360) % 360;
}

/** The way as the crow flies. `km` replaces its length. */
export function wayBetween(from: Point, to: Point, km = haversineKm(from, to)): Way {
  if (km < hereKm) return { km, words: 'here' };
  const degrees = bearing(from, to);
  return { km, degrees, words: compass[Math.round(degrees / 45) % 8] ?? '' };
}

interface Trip {
  pickup: Point;
  destination: Point;
  distanceKm: number;
  /** The distance when the driver was asked. */
  pickupKm: number;
}

/** The way from the driver's position to the pickup; without a position, only the distance. */
export const pickupWay = ({ pickup, pickupKm }: Trip, place: Point | null): Way =>
  place ? wayBetween(place, pickup) : { km: pickupKm, words: '' };

/** The way from the pickup to the destination. */
export const tripWay = ({ pickup, destination, distanceKm }: Trip): Way => wayBetween(pickup, destination, distanceKm);
