import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { initialBearing } from '../../shared/rides/position.ts';

/** Distances and directions, as people read them. Pure. */

export interface Way {
  km: number;
  /** Clockwise from north. Absent for a place that is here, or if the start is unknown. */
  degrees?: number;
  /** The eighth of the compass; empty if the start is unknown. */
  direction: (typeof compass)[number] | 'here' | '';
}

const compass = ['n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw'] as const;
/** Nearer than this, a direction means nothing: a phone's position is not more exact. */
const hereKm = 0.05;

/** The way as the crow flies. `km` replaces its length. */
export function wayBetween(from: Point, to: Point, km = haversineKm(from, to)): Way {
  if (km < hereKm) return { km, direction: 'here' };
  const degrees = (initialBearing({ from, to }) + 360) % 360;
  return { km, degrees, direction: compass[Math.round(degrees / 45) % 8] ?? '' };
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
  place ? wayBetween(place, pickup) : { km: pickupKm, direction: '' };

/** The way from the pickup to the destination. */
export const tripWay = ({ pickup, destination, distanceKm }: Trip): Way => wayBetween(pickup, destination, distanceKm);
