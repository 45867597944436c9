import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { initialBearing, pointAt } from '../../shared/rides/position.ts';

interface Point {
  lat: number;
  lng: number;
}

export const metersBetween = (from: Point, to: Point): number => greatCircleKm(from, to) * 1_000;

/** Points along the great circle between two places, close enough to draw a line through. */
export function pathBetween(from: Point, to: Point): Point[] {
  const km = greatCircleKm(from, to);
  const pieces = Math.min(64, Math.max(1, Math.ceil(km / 50)));
  const inner = Array.from({ length: pieces - 1 }, (_, index) =>
    pointAt(from, (km * (index + 1)) / pieces, initialBearing({ from, to })),
  );
  return [from, ...inner, to];
}
