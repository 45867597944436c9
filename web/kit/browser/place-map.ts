import { Map as LeafletMap } from 'leaflet';
import { coordinatesAsText } from '../ride-words.ts';
import { addGround } from './map-ground.ts';

interface Point {
  lat: number;
  lng: number;
}

export interface PlaceMap {
  /** Opens the map, and resolves with the point under the cross, or with null if the person closes the map. */
  choose(start: Point | null): Promise<Point | null>;
}

const [closeZoom, worldZoom] = [16, 2];
/** The length of a step with an arrow key (px), and together with Shift. */
const [step, bigStep] = [16, 96];
const directions: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The map of a form, on which a person chooses a point: on tiles if configured, else on a plain grid. */
export function createPlaceMap(form: HTMLElement): PlaceMap {
  const dialog = form.querySelector<HTMLDialogElement>('[data-place-map]');
  const box = dialog?.querySelector<HTMLElement>('section');
  const output = dialog?.querySelector('output');
  if (!dialog || !box || !output) return { choose: async () => null };
  let map: LeafletMap | undefined;
  let chosen: Point | null = null;

  const pointUnderCross = (): Point => {
    const { lat, lng } = (map as LeafletMap).getCenter().wrap();
    return { lat: Math.max(-90, Math.min(90, lat)), lng };
  };
  const show = () => {
    output.textContent = coordinatesAsText(pointUnderCross());
  };
  const use = () => {
    chosen = pointUnderCross();
    dialog.close();
  };

  function open(): LeafletMap {
    const made = new LeafletMap(box as HTMLElement, {
      zoomControl: false,
      attributionControl: false,
      // Our own keys act at once, without an animation.
      keyboard: false,
      minZoom: 2,
      maxZoom: 18,
      worldCopyJump: true,
    });
    addGround(made, box as HTMLElement);
    made.on('move', show);
    return made;
  }

  box.tabIndex = 0;
  box.addEventListener('keydown', (event) => {
    const direction = directions[event.key];
    if (direction) {
      const length = event.shiftKey ? bigStep : step;
      map?.panBy([direction[0] * length, direction[1] * length], { animate: false });
    } else if (event.key === '+' || event.key === '=') map?.zoomIn(1, { animate: false });
    else if (event.key === '-') map?.zoomOut(1, { animate: false });
    else if (event.key === 'Enter' && event.target === box) use();
    else return;
    event.preventDefault();
  });
  dialog.querySelector('[data-use]')?.addEventListener('click', use);
  dialog.querySelector('[data-cancel]')?.addEventListener('click', () => dialog.close());

  return {
    choose: (start) =>
      new Promise((resolve) => {
        chosen = null;
        dialog.showModal();
        map ??= open();
        map.invalidateSize({ animate: false });
        map.setView(start ?? [20, 0], start ? closeZoom : worldZoom, { animate: false });
        show();
        box.focus();
        dialog.addEventListener('close', () => resolve(chosen), { once: true });
      }),
  };
}
