import { Map as LeafletMap, polyline, SVG } from 'leaflet';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { initialBearing, pointAt } from '../../../shared/rides/position.ts';
import { addGround } from '../../../web/kit/browser/map-ground.ts';
import type { TrackState } from '../track-state.ts';
import { createCamera } from './camera.ts';
import type { CarView } from './car.ts';
import { addRecenterButton, createCarMark, placeMark, putAround } from './marks.ts';

interface Place {
  lat: number;
  lng: number;
}

/** Draws the lines anew in each frame of a flight, where Leaflet would scale them, with their width. */
class ExactRenderer extends SVG {
  declare _reset: () => void;

  _onZoom(): void {
    this._reset();
  }
}

/** Creates the map with route, pickup, destination and car, on tiles if configured, else on a plain grid. */
export function createMap(container: HTMLElement, first: TrackState) {
  const map = new LeafletMap(container, {
    zoomControl: false,
    zoomSnap: 0.25,
    maxZoom: 18,
    minZoom: 2,
    attributionControl: false,
    renderer: new ExactRenderer(),
  });
  addGround(map, container);
  const recenter = addRecenterButton(map, () => camera.resume());
  const put = putAround(first.pickup);
  const camera = createCamera(map, container, put, (follows) => {
    recenter.hidden = follows;
  });
  camera.show(first, first.position ?? null);

  const path = pathBetween(first.pickup, first.destination).map(put);
  polyline(path, { className: 'route-casing', weight: 8, interactive: false }).addTo(map);
  polyline(path, { className: 'route', weight: 4, interactive: false }).addTo(map);
  const approach = polyline([], { className: 'approach', weight: 3, interactive: false }).addTo(map);
  placeMark(first.destination, 'destination', { name: 'Destination', put }).addTo(map);
  placeMark(first.pickup, 'pickup', { name: 'Pickup', put }).addTo(map);
  const car = createCarMark(map, put);

  let state = first;
  let carPlace: Place | null = first.position ?? null;
  // While the map zooms, Leaflet would draw a changed line in the wrong place.
  let isZooming = false;
  map.on('zoomstart', () => {
    isZooming = true;
  });
  map.on('zoomend moveend', () => {
    isZooming = false;
  });

  return {
    /** Shows a new state. Call `showCar` after it. */
    showRide(next: TrackState): void {
      const isNewStatus = next.status !== state.status;
      state = next;
      container.dataset.status = state.status;
      if (isNewStatus) camera.show(state, state.position ?? carPlace);
    },
    showCar(view: CarView | null): void {
      const isNew = carPlace === null && view !== null;
      carPlace = view;
      car.show(view);
      if (!isZooming) approach.setLatLngs(view ? wayAhead(state, view).map(put) : []);
      container.dataset.car = view ? `${view.lat.toFixed(6)},${view.lng.toFixed(6)}` : '';
      if (isNew) camera.show(state, view);
      else camera.follow(state, view);
    },
  };
}

/** The line from the car to its next place. A simulated car drives on the route, so its trip needs no second line. */
function wayAhead({ status, testMode, pickup, destination }: TrackState, car: Place): Place[] {
  if (status === 'driver_arriving') return pathBetween(car, pickup);
  return status === 'in_progress' && !testMode ? pathBetween(car, destination) : [];
}

/** Points along the great circle between two places, close enough to draw a line through. */
function pathBetween(from: Place, to: Place): Place[] {
  const km = greatCircleKm(from, to);
  const pieces = Math.min(64, Math.max(1, Math.ceil(km / 50)));
  const inner = Array.from({ length: pieces - 1 }, (_, index) =>
    pointAt(from, (km * (index + 1)) / pieces, initialBearing({ from, to })),
  );
  return [from, ...inner, to];
}
