import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { arrivalHeading, legBetween, placeOnLeg } from '../../shared/rides/position.ts';

/** A car that drives in straight lines at one speed. */
export interface Car {
  where(): Point & { heading: number };
  isStanding(): boolean;
  /** Sets off from where the car is now; returns how long the drive takes, in ms. */
  driveTo(place: Point): number;
}

export function createCar(at: Point, kmh: number, now = Date.now): Car {
  let leg = legBetween(at, at, new Date(now()), 0);
  return {
    where: () => placeOnLeg(leg, now()),
    isStanding: () => now() >= leg.endAt.getTime(),
    driveTo(place) {
      const from = placeOnLeg(leg, now());
      const durationMs = (haversineKm(from, place) / kmh) * 3_600_000;
      leg = legBetween(from, place, new Date(now()), durationMs, arrivalHeading(leg));
      return durationMs;
    },
  };
}
