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
let current = first;

function show(state: TrackState): void {
  current = state;
  // The address leads to the map of the new ride, as soon as that exists.
  if (state.endedBy === 'replaced') setTimeout(() => location.reload(), 2_000);
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

show(first);
requestAnimationFrame(animate);
// The ETA and the age of the last report change with time.
setInterval(() => panel.show(current, clock.now()), 1_000);
followRide(location.pathname.replace(/\/$/, ''), first, {
  isLast: ({ status }) => status === 'completed' || status === 'cancelled',
  onState: show,
  onConnection: panel.showConnection,
});

/** Estimates the server's clock. Each message was delayed, so the server's time is never before the message's time. */
function serverClock() {
  let samples: { aheadMs: number; at: number }[] = [];
  return {
    learn(serverNow: number): void {
      const at = performance.now();
      samples = [...samples.filter((sample) => at - sample.at < 60_000), { aheadMs: serverNow - at, at }].slice(-20);
    },
    /** Unix ms. The message with the shortest delay gives the best estimate, which is the maximum. */
    now: (): number => performance.now() + Math.max(...samples.map(({ aheadMs }) => aheadMs)),
  };
}
