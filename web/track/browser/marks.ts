import { Control, DomUtil, divIcon, type Map as LeafletMap, marker } from 'leaflet';
import type { Point } from '../../../shared/base/great-circle.ts';
import { isolated } from '../../../shared/base/shown-text.ts';
import { shorterWay } from '../../../shared/rides/path.ts';
import type { Location } from '../../../shared/rides/ride-types.ts';
import type { CarView } from './car.ts';

/** The marks on the map, the ground below them and the controls above them. */

/** Puts a place of a ride on the map. */
export type Put = (place: Point) => [lat: number, lng: number];

/**
 * Puts every place of a ride on the side of the pickup from which it is nearer, so that a ride across 180 degrees is not
 * drawn around the world. Leaflet draws longitudes beyond 180 degrees.
 */
export const putAround =
  (pickup: Point): Put =>
  ({ lat, lng }) => [lat, pickup.lng + shorterWay(pickup.lng, lng)];

/** The mark of the pickup or the destination, with its name and the address if the partner gave one. */
export function placeMark(at: Location, kind: 'pickup' | 'destination', { name, put }: { name: string; put: Put }) {
  const label = DomUtil.create('span', 'label');
  label.append(name);
  // As text: an address is a partner's input.
  if (at.address) DomUtil.create('span', 'lines light', label).textContent = isolated(at.address);
  const icon = divIcon({ className: `point ${kind}`, iconSize: [20, 20], html: label });
  return marker(put(at), { icon, keyboard: false, interactive: false });
}

const carShape =
  '<svg viewBox="0 0 40 40" width="40" height="40" aria-hidden="true"><path class="car-casing" d="M20 3l13 32-13-7-13 7z"/><path class="car-shape" d="M20 7l9.500 24-9.500-5-9.500 5z"/></svg>';

/** The angle continues past 360 degrees, so that the car always turns by the shorter way. */
export function createCarMark(map: LeafletMap, put: Put) {
  const icon = divIcon({ className: 'car', iconSize: [40, 40], html: carShape });
  const car = marker([0, 0], { icon, keyboard: false, interactive: false, zIndexOffset: 1_000 });
  let angle = 0;
  return {
    show(view: CarView | null): void {
      if (!view) {
        car.remove();
        return;
      }
      car.setLatLng(put(view));
      if (!map.hasLayer(car)) car.addTo(map);
      angle += shorterWay(angle, view.heading);
      const shape = car.getElement()?.firstElementChild as SVGElement;
      shape.style.transform = `rotate(${angle.toFixed(1)}deg)`;
      car.getElement()?.classList.toggle('old', view.isOld);
    },
  };
}

/** A button that is hidden until the viewer has moved the map. */
export function addRecenterButton(map: LeafletMap, name: string, onClick: () => void): HTMLButtonElement {
  const button = DomUtil.create('button', 'btn second recenter');
  button.type = 'button';
  button.textContent = name;
  button.hidden = true;
  button.addEventListener('click', onClick);
  const corner = new Control({ position: 'topright' });
  corner.onAdd = () => button;
  corner.addTo(map);
  return button;
}
