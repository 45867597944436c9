import type { ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import type { PositionReport } from './own-position.ts';

type TripMap = ReturnType<typeof import('../trip-map.browser.ts').createTripMap>;

const empty = document.querySelector('#trip-map > section');
let shown: { rideId: string; map: Promise<TripMap | null> } | undefined;

/** Shows the driver's ride on a map, if tiles are configured and the script of the map loads. */
export function showOnMap(ride: ShownRide, place: PositionReport | null): void {
  const box = document.getElementById('trip-map');
  if (!box) return;
  if (shown?.rideId !== ride.rideId) shown = { rideId: ride.rideId, map: loadMap(box, ride) };
  void shown.map.then((map) => {
    box.hidden = !map;
    map?.show(ride, place);
  });
}

/** Removes the map with the places of the ride. */
export function removeMap(): void {
  shown = undefined;
  document.getElementById('trip-map')?.replaceChildren();
}

async function loadMap(box: HTMLElement, ride: ShownRide): Promise<TripMap | null> {
  const section = empty?.cloneNode() as HTMLElement;
  box.hidden = false;
  box.replaceChildren(section);
  try {
    const { createTripMap } = (await import(box.dataset.script ?? '')) as typeof import('../trip-map.browser.ts');
    return createTripMap(section, ride);
  } catch {
    return null;
  }
}
