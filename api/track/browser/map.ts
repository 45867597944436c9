import {
  Control,
  control,
  DomUtil,
  divIcon,
  GridLayer,
  type LatLngExpression,
  Map as LeafletMap,
  latLngBounds,
  layerGroup,
  marker,
  polyline,
  tileLayer,
} from 'leaflet';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { initialBearing, pointAt } from '../../../shared/rides/position.ts';
import type { TrackState } from '../track-state.ts';
import { type CarView, shorterWay } from './car.ts';

interface Place {
  lat: number;
  lng: number;
}

const place = ({ lat, lng }: Place): [number, number] => [lat, lng];

/** Creates the map with route, pickup, destination and car, on tiles if configured, else on a plain grid. */
export function createMap(container: HTMLElement, first: TrackState) {
  const map = new LeafletMap(container, {
    zoomControl: false,
    zoomSnap: 0.25,
    maxZoom: 18,
    minZoom: 2,
    attributionControl: false,
  });
  const ground = groundOf(container);
  ground.addTo(map);
  if (container.dataset.attribution) control.attribution({ prefix: false }).addTo(map);
  control.zoom({ position: 'topright' }).addTo(map);
  control.scale({ position: 'topright', maxWidth: 96 }).addTo(map);
  northArrow().addTo(map);

  const approach = layerGroup().addTo(map);
  const path = pathBetween(first.pickup, first.destination).map(place);
  polyline(path, { className: 'route-casing', weight: 8, interactive: false }).addTo(map);
  polyline(path, { className: 'route', weight: 4, interactive: false }).addTo(map);
  point(first.destination, 'destination', 'Destination').addTo(map);
  point(first.pickup, 'pickup', 'Pickup').addTo(map);
  const car = createCarMarker(map);

  let wasMovedByUser = false;
  map.on('dragstart', () => setMovedByUser(true));
  container.addEventListener('wheel', () => setMovedByUser(true), { passive: true });
  container.addEventListener('keydown', () => setMovedByUser(true));
  const recenter = recenterButton(() => {
    setMovedByUser(false);
    showAll();
  });
  recenter.addTo(map);
  function setMovedByUser(moved: boolean): void {
    wasMovedByUser = moved;
    recenter.getContainer()?.toggleAttribute('hidden', !moved);
  }

  let shown = first;
  let carPlace: LatLngExpression | null = null;
  function showAll(): void {
    const sheet = document.getElementById('facts')?.getBoundingClientRect();
    const isBeside = sheet !== undefined && sheet.width < innerWidth * 0.7;
    const places = [place(shown.pickup), place(shown.destination), ...(shown.leg ? [place(shown.leg.from)] : [])];
    const bounds = latLngBounds(carPlace ? [...places, carPlace] : places);
    const mapBox = container.getBoundingClientRect();
    const coveredLeft = isBeside && sheet ? Math.max(0, sheet.right - mapBox.left) : 0;
    const coveredBelow = !isBeside && sheet ? Math.max(0, mapBox.bottom - sheet.top) : 0;
    map.fitBounds(bounds, {
      paddingTopLeft: [coveredLeft + 48, 56],
      paddingBottomRight: [64, coveredBelow + 40],
      maxZoom: 16,
      animate: false,
    });
  }
  showAll();
  map.on('resize', () => !wasMovedByUser && showAll());

  return {
    showRide(state: TrackState): void {
      const isNewStatus = state.status !== shown.status;
      shown = state;
      approach.clearLayers();
      if (state.status === 'driver_arriving' && state.leg) {
        const way = pathBetween(state.leg.from, state.leg.to).map(place);
        polyline(way, { className: 'approach', weight: 3, interactive: false }).addTo(approach);
      }
      if (isNewStatus && !wasMovedByUser) showAll();
    },
    showCar(view: CarView | null): void {
      const isNew = carPlace === null && view !== null;
      carPlace = view && place(view);
      car.show(view);
      container.dataset.car = view ? `${view.lat.toFixed(6)},${view.lng.toFixed(6)}` : '';
      if (isNew && !wasMovedByUser) showAll();
    },
  };
}

function groundOf(container: HTMLElement) {
  const { tiles, attribution } = container.dataset;
  if (tiles) return tileLayer(tiles, { attribution, maxZoom: 19 });
  return new PlainGround({ tileSize: 128 });
}

/** Without tiles: a faint grid, so that users see the map move. */
class PlainGround extends GridLayer {
  protected override createTile(): HTMLElement {
    return DomUtil.create('div', 'plain-ground');
  }
}

function point(at: { lat: number; lng: number }, kind: string, label: string) {
  const icon = divIcon({ className: `point ${kind}`, iconSize: [20, 20], html: `<span>${label}</span>` });
  return marker(place(at), { icon, keyboard: false, interactive: false });
}

const carShape =
  '<svg viewBox="0 0 40 40" width="40" height="40" aria-hidden="true"><path class="car-casing" d="M20 3l13 32-13-7-13 7z"/><path class="car-shape" d="M20 7l9.500 24-9.500-5-9.500 5z"/></svg>';

/** The angle continues past 360 degrees, so that the car always turns by the shorter way. */
function createCarMarker(map: LeafletMap) {
  const icon = divIcon({ className: 'car', iconSize: [40, 40], html: carShape });
  const car = marker([0, 0], { icon, keyboard: false, interactive: false, zIndexOffset: 1_000 });
  let angle = 0;
  return {
    show(view: CarView | null): void {
      if (!view) {
        car.remove();
        return;
      }
      car.setLatLng(place(view));
      if (!map.hasLayer(car)) car.addTo(map);
      angle += shorterWay(angle, view.heading);
      const shape = car.getElement()?.firstElementChild as SVGElement;
      shape.style.transform = `rotate(${angle.toFixed(1)}deg)`;
      car.getElement()?.classList.toggle('old', view.isOld);
    },
  };
}

function northArrow(): Control {
  const arrow = new Control({ position: 'topright' });
  arrow.onAdd = () => {
    const element = DomUtil.create('div', 'north-arrow');
    element.innerHTML =
      '<svg viewBox="0 0 16 22" width="16" height="22" aria-hidden="true"><path d="M8 1l6 15-6-3.500-6 3.500z"/></svg><span>N</span>';
    return element;
  };
  return arrow;
}

function recenterButton(onClick: () => void): Control {
  const button = new Control({ position: 'topright' });
  button.onAdd = () => {
    const element = DomUtil.create('button', 'recenter');
    element.type = 'button';
    element.textContent = 'Show all';
    element.hidden = true;
    element.addEventListener('click', onClick);
    return element;
  };
  return button;
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
