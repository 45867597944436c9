import { type Map as LeafletMap, latLngBounds, point } from 'leaflet';
import type { Point } from '../../../shared/base/great-circle.ts';
import type { TrackState } from '../track-state.ts';
import type { Put } from './marks.ts';

const maxZoom = 16;
/** The camera moves at most this often, so that it moves gently. */
const restMs = 1_000;
const moveSeconds = 0.8;
/** The camera comes closer when it could show its places at about 1.7 times their size. */
const tooFarZoom = 0.75;
/** A place may come this much closer (px) to the edge than in a new frame before the camera moves. */
const slack = 24;
/** The places are shown in at least this width and height (px), even if the sheet covers almost the whole map. */
const leastView = 80;

/** The places that matter now, with the road between them: car and pickup, then car and destination, at last the trip. */
function placesInView({ status, pickup, destination }: TrackState, car: Point | null, road: readonly Point[]): Point[] {
  if (!car || status === 'bidding' || status === 'cancelled') return [pickup, destination];
  if (status === 'completed') return [pickup, destination, car, ...road];
  return [car, status === 'in_progress' ? destination : pickup, ...road];
}

/**
 * Keeps the places that matter in the part of the map that the sheet does not cover. It stops when the viewer moves the
 * map, which `onFollow` reports.
 */
export function createCamera(map: LeafletMap, container: HTMLElement, put: Put, onFollow: (follows: boolean) => void) {
  const wantsNoMotion = matchMedia('(prefers-reduced-motion: reduce)');
  const sheet = document.getElementById('facts');
  let places: Point[] = [];
  let follows = true;
  let isOwnMove = false;
  let isPlaced = false;
  let movedAt = 0;

  map.on('movestart', () => {
    if (!isOwnMove) setFollows(false);
  });
  map.on('resize', adapt);
  if (sheet) new ResizeObserver(adapt).observe(sheet);

  function setFollows(next: boolean): void {
    follows = next;
    onFollow(next);
  }

  /** The map or the sheet has another size. */
  function adapt(): void {
    const { left, right, below } = coveredBy(sheet, container);
    container.style.setProperty('--covered-left', `${left}px`);
    container.style.setProperty('--covered-right', `${right}px`);
    container.style.setProperty('--covered-below', `${below}px`);
    // At once: on its way to a place, the map would show the old size.
    if (follows && isPlaced) keepInView({ animate: false });
  }

  function frame({ animate = true } = {}): void {
    const bounds = latLngBounds(places.map(put));
    const options = { ...marginsOf(sheet, container), maxZoom };
    isOwnMove = true;
    if (animate && isPlaced && !wantsNoMotion.matches) map.flyToBounds(bounds, { ...options, duration: moveSeconds });
    else map.fitBounds(bounds, { ...options, animate: false });
    isOwnMove = false;
    isPlaced = true;
    movedAt = performance.now();
  }

  function keepInView(options?: { animate: boolean }): void {
    if (!isWellFramed()) frame(options);
  }

  function isWellFramed(): boolean {
    const { paddingTopLeft, paddingBottomRight } = marginsOf(sheet, container);
    const end = map.getSize().subtract(paddingBottomRight);
    const areInside = places.every((place) => {
      const { x, y } = map.latLngToContainerPoint(put(place));
      const isInWidth = x >= paddingTopLeft.x - slack && x <= end.x + slack;
      return isInWidth && y >= paddingTopLeft.y - slack && y <= end.y + slack;
    });
    const margins = paddingTopLeft.add(paddingBottomRight);
    const bestZoom = Math.min(maxZoom, map.getBoundsZoom(latLngBounds(places.map(put)), false, margins));
    return areInside && bestZoom - map.getZoom() < tooFarZoom;
  }

  return {
    /** Frames the places of a new state. */
    show(state: TrackState, car: Point | null, road: readonly Point[]): void {
      places = placesInView(state, car, road);
      if (follows) frame();
    },
    /** Follows the car of the same state. */
    follow(state: TrackState, car: Point | null, road: readonly Point[]): void {
      places = placesInView(state, car, road);
      if (follows && performance.now() - movedAt > restMs) keepInView();
    },
    /** Follows again after the viewer has moved the map. */
    resume(): void {
      setFollows(true);
      frame();
    },
  };
}

interface Covered {
  left: number;
  right: number;
  below: number;
}

/** The width at a side or the height at the bottom (px) that the sheet covers. */
function coveredBy(sheet: HTMLElement | null, container: HTMLElement): Covered {
  const nothing = { left: 0, right: 0, below: 0 };
  if (!sheet) return nothing;
  const [{ top, left, right, width }, map] = [sheet.getBoundingClientRect(), container.getBoundingClientRect()];
  if (width >= map.width * 0.7) return { ...nothing, below: Math.max(0, map.bottom - top) };
  const isAtRight = left - map.left > map.right - right;
  return isAtRight
    ? { ...nothing, right: Math.max(0, map.right - left) }
    : { ...nothing, left: Math.max(0, right - map.left) };
}

/** The margins around the places: what the sheet and the controls cover, and some space. */
function marginsOf(sheet: HTMLElement | null, container: HTMLElement) {
  const { left, right, below } = coveredBy(sheet, container);
  const { width, height } = container.getBoundingClientRect();
  // Half the width of a label, which is centered on its place.
  const side = Math.min(80, width / 4);
  // Below the scale, which is at the top.
  const top = Math.min(72, height / 4);
  // The label of a place, and the attribution of the tiles.
  const bottom = 88;
  const besides = (covered: number) => Math.max(0, Math.min(covered + side, width - side - leastView));
  return {
    paddingTopLeft: point(besides(left), top),
    paddingBottomRight: point(besides(right), Math.max(0, Math.min(below + bottom, height - top - leastView))),
  };
}
