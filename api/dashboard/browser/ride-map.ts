import { createCar } from '../../track/browser/car.ts';
import { createMap } from '../../track/browser/map.ts';
import { serverClock } from '../../track/browser/server-clock.ts';
import type { TrackState } from '../../track/track-state.ts';
import { seenWords, wordsFor } from '../../track/words.ts';

/** The live map inside a ride's page, and its texts in the page's head. `show` gets each new state. */
export function createRideMap(container: HTMLElement, first: TrackState): { show(state: TrackState): void } {
  const map = createMap(container, first);
  const car = createCar();
  const clock = serverClock();
  const wantsNoMotion = matchMedia('(prefers-reduced-motion: reduce)');
  let current = first;

  function show(state: TrackState): void {
    current = state;
    clock.learn(state.now);
    car.learn(state);
    map.showRide(state);
    draw();
    showWords();
  }

  function draw(): void {
    map.showCar(car.at(clock.now()));
  }

  function animate(): void {
    if (!wantsNoMotion.matches && !document.hidden) draw();
    requestAnimationFrame(animate);
  }

  function showWords(): void {
    const now = clock.now();
    const { headline, status } = wordsFor(current, now);
    setText('headline', headline);
    setText('headline-more', seenWords(current, now) ?? status);
  }

  letPageScroll(container);
  show(first);
  requestAnimationFrame(animate);
  // The ETA and the age of the last report change with time.
  setInterval(showWords, 1_000);
  return { show };
}

function setText(id: string, text: string): void {
  const element = document.getElementById(id);
  if (element && element.textContent !== text) element.textContent = text;
}

/** The wheel and a finger scroll the page, also over the map. The map's buttons, the mouse and arrow keys move the map. */
function letPageScroll({ parentElement: box }: HTMLElement): void {
  const capture = { capture: true, passive: true } as const;
  const keepFromMap = (event: Event) => event.stopPropagation();
  box?.addEventListener('wheel', keepFromMap, capture);
  box?.addEventListener('touchstart', keepFromMap, capture);
  box?.addEventListener(
    'pointerdown',
    (event) => {
      if (event.pointerType === 'touch') event.stopPropagation();
    },
    capture,
  );
}
