import type { TrackState } from '../track-state.ts';
import { createCar } from './car.ts';
import { createMap } from './map.ts';

/** A map on which the car moves. `show` gets each new state. */
export function createMovingMap(container: HTMLElement, first: TrackState) {
  const map = createMap(container, first);
  const car = createCar();
  const clock = serverClock();
  const wantsNoMotion = matchMedia('(prefers-reduced-motion: reduce)');

  function show(state: TrackState): void {
    clock.learn(state.now);
    car.learn(state);
    map.showRide(state);
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
  return { show, now: clock.now };
}

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
