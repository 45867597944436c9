import type { Point } from '../../shared/base/great-circle.ts';
import type { ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { createMap } from '../track/browser/map.ts';
import type { TrackState } from '../track/track-state.ts';

/** The map of the driver's ride. `show` gets each new state of the ride, and the phone's position. */
export function createTripMap(container: HTMLElement, first: ShownRide) {
  const map = createMap(container, stateOf(first));
  return {
    show(ride: ShownRide, place: (Point & { heading?: number }) | null): void {
      map.showRide(stateOf(ride));
      map.showCar(place && { heading: 0, ...place, isOld: false });
    },
  };
}

const stateOf = ({ status, pickup, destination, distanceKm, road }: ShownRide): TrackState => ({
  now: Date.now(),
  status,
  testMode: false,
  pickup,
  destination,
  distanceKm,
  steps: [],
  ...(road && { road: { line: road } }),
});
