import { Map as LeafletMap, type Polyline, polyline, SVG } from 'leaflet';
import { greatCircleKm, type Point } from '../../../shared/base/great-circle.ts';
import { decodeLine, nearestOn, type Path, pathAlong, restAfter } from '../../../shared/rides/path.ts';
import { initialBearing, lineOfLeg, pointAt } from '../../../shared/rides/position.ts';
import { addGround } from '../../kit/browser/map-ground.ts';
import type { TrackState } from '../track-state.ts';
import { createCamera } from './camera.ts';
import type { CarView } from './car.ts';
import { addRecenterButton, createCarMark, placeMark, putAround } from './marks.ts';

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
  const { pickup: pickupName = '', destination: destinationName = '', recenter: recenterName = '' } = container.dataset;
  const recenter = addRecenterButton(map, recenterName, () => camera.resume());
  const put = putAround(first.pickup);
  const camera = createCamera(map, container, put, (follows) => {
    recenter.hidden = follows;
  });
  const way = createWay();
  way.learn(first);
  camera.show(first, first.position ?? null, way.inView());

  const line = (className: string, weight: number) =>
    polyline([], { className, weight, interactive: false }).addTo(map);
  const trip = [line('route-casing', 8), line('route', 4)];
  const approach = [line('approach-casing', 8), line('approach', 3)];
  const draw = (lines: Polyline[], points: readonly Point[]) => {
    for (const each of lines) each.setLatLngs(points.map(put));
  };
  const placeDestination = ({ destination }: TrackState) =>
    placeMark(destination, 'destination', { name: destinationName, put }).addTo(map);
  let destinationMark = placeDestination(first);
  placeMark(first.pickup, 'pickup', { name: pickupName, put }).addTo(map);
  const car = createCarMark(map, put);

  let state = first;
  let carPlace: Point | null = first.position ?? null;
  showTrip();
  // While the map zooms, Leaflet would draw a changed line in the wrong place.
  let isZooming = false;
  map.on('zoomstart', () => {
    isZooming = true;
  });
  map.on('zoomend moveend', () => {
    isZooming = false;
  });

  function showTrip(): void {
    const { status, pickup, destination } = state;
    const road = status === 'driver_arriving' ? null : way.road();
    container.dataset.trip = road ? 'road' : 'direct';
    container.dataset.ahead = way.road() ? 'road' : 'direct';
    draw(trip, road ?? pathBetween(pickup, destination));
  }

  return {
    /** Shows a new state. Call `showCar` after it. */
    showRide(next: TrackState): void {
      const isNewStatus = next.status !== state.status;
      const isNewDestination = JSON.stringify(next.destination) !== JSON.stringify(state.destination);
      state = next;
      if (isNewDestination) {
        destinationMark.remove();
        destinationMark = placeDestination(state);
      }
      container.dataset.status = state.status;
      const isNewWay = way.learn(state) || isNewDestination;
      if (isNewWay) showTrip();
      if (isNewStatus || isNewWay) camera.show(state, state.position ?? carPlace, way.inView());
    },
    showCar(view: CarView | null): void {
      const isNew = carPlace === null && view !== null;
      carPlace = view;
      car.show(view);
      if (!isZooming) draw(approach, view ? (way.ahead(view) ?? directWay(state, view)) : []);
      container.dataset.car = view ? `${view.lat.toFixed(6)},${view.lng.toFixed(6)}` : '';
      if (isNew) camera.show(state, view, way.inView());
      else camera.follow(state, view, way.inView());
    },
  };
}

/** The road of the present leg, and the part of it that the car has not driven yet. */
function createWay() {
  let known = '';
  let road: readonly Point[] | null = null;
  let left: Path | null = null;
  return {
    /** True if the road is another one than before. */
    learn(state: TrackState): boolean {
      const key = [state.status, state.leg?.road?.line ?? state.road?.line].join(' ');
      if (key === known) return false;
      known = key;
      road = roadOf(state);
      left = road && isMovingOn(state) ? pathAlong(road) : null;
      return true;
    },
    road: () => road,
    /** The way from the car to the end of the road. The part behind the car does not come back. Null without a road. */
    ahead(car: Point): readonly Point[] | null {
      left &&= restAfter(left, nearestOn(left, car).km, car);
      return left?.points ?? null;
    },
    /** The places that the viewer wants to see. */
    inView: (): readonly Point[] => left?.points ?? road ?? [],
  };
}

const isMovingOn = ({ status }: TrackState) => status === 'driver_arriving' || status === 'in_progress';

function roadOf({ status, leg, road, pickup, destination }: TrackState): readonly Point[] | null {
  if (leg) return lineOfLeg(leg);
  const points = road && decodeLine(road.line);
  return points ? [road.from ?? [], points, status === 'driver_arriving' ? pickup : destination].flat() : null;
}

/** The line from the car to its next place. A simulated car drives on the route, so its trip needs no second line. */
function directWay({ status, testMode, pickup, destination }: TrackState, car: Point): Point[] {
  if (status === 'driver_arriving') return pathBetween(car, pickup);
  return status === 'in_progress' && !testMode ? pathBetween(car, destination) : [];
}

/** Points along the great circle between two places, close enough to draw a line through. */
function pathBetween(from: Point, to: Point): Point[] {
  const km = greatCircleKm(from, to);
  const pieces = Math.min(64, Math.max(1, Math.ceil(km / 50)));
  const inner = Array.from({ length: pieces - 1 }, (_, index) =>
    pointAt(from, (km * (index + 1)) / pieces, initialBearing({ from, to })),
  );
  return [from, ...inner, to];
}
