import { followRide } from '../../pages/browser/follow.ts';
import type { TrackState } from '../track-state.ts';
import { createCar } from './car.ts';
import { createMap } from './map.ts';
import { createPanel } from './panel.ts';

const facts = document.getElementById('facts') as HTMLElement;
const first = JSON.parse(facts.dataset.state ?? '') as TrackState;
const map = createMap(document.getElementById('map') as HTMLElement, first);
const panel = createPanel();
const clock = serverClock();
const car = createCar();
const wantsNoMotion = matchMedia('(prefers-reduced-motion: reduce)');
let present = first;

function take(state: TrackState): void {
  present = state;
  clock.learn(state.now);
  car.learn(state);
  map.showRide(state);
  panel.show(state, clock.now());
  draw();
}

function draw(): void {
  map.showCar(car.at(clock.now()));
}

function animate(): void {
  if (!wantsNoMotion.matches && !document.hidden) draw();
  requestAnimationFrame(animate);
}

take(first);
requestAnimationFrame(animate);
// The ETA and the age of a report change with time.
setInterval(() => panel.show(present, clock.now()), 1_000);
followRide(location.pathname.replace(/\/$/, ''), first, {
  isLast: ({ status }) => status === 'completed' || status === 'cancelled',
  onState: take,
  onConnection: panel.showConnection,
});

/** The server's clock as this page estimates it: a state that arrives is at least as old as its time says. */
function serverClock() {
  let samples: { aheadMs: number; at: number }[] = [];
  return {
    learn(serverNow: number): void {
      const at = performance.now();
      samples = [...samples.filter((sample) => at - sample.at < 60_000), { aheadMs: serverNow - at, at }].slice(-20);
    },
    /** Unix ms. The message with the shortest delay gives the best estimate. */
    now: (): number => performance.now() + Math.max(...samples.map(({ aheadMs }) => aheadMs)),
  };
}
