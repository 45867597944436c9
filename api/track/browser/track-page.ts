import { followRide } from '../../pages/browser/follow.ts';
import type { TrackState } from '../track-state.ts';
import { createCar } from './car.ts';
import { createMap } from './map.ts';
import { createPanel } from './panel.ts';
import { serverClock } from './server-clock.ts';

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
