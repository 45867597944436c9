import { followRide } from '../../pages/browser/follow.ts';
import { createSpeedometer } from '../eta.ts';
import type { TrackState } from '../track-state.ts';
import { createCar } from './car.ts';
import { createMap } from './map.ts';
import { createPanel, say } from './panel.ts';
import { offerShare, swipeDetails } from './sheet.ts';

const element = (id: string) => document.getElementById(id) as HTMLElement;
const first = JSON.parse(element('facts').dataset.state ?? '') as TrackState;
const map = createMap(element('map'), first);
const panel = createPanel();
const speedometer = createSpeedometer();
const clock = serverClock();
const car = createCar();
const wantsNoMotion = matchMedia('(prefers-reduced-motion: reduce)');
let current = first;

function show(state: TrackState): void {
  if (state.status !== current.status) speedometer.reset();
  current = state;
  clock.learn(state.now);
  car.learn(state);
  if (state.position) speedometer.learn(state.position);
  map.showRide(state);
  showTexts();
  draw();
}

function showTexts(): void {
  panel.show(current, clock.now(), speedometer.kmPerHour());
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
setInterval(showTexts, 1_000);
swipeDetails(element('answer'), element('show-details') as HTMLInputElement);
offerShare(element('share'), say);
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
