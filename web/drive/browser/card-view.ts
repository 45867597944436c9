import type { Point } from '../../../shared/base/great-circle.ts';
import { driveMs } from '../../../shared/rides/arrival.ts';
import { pickupWay, tripWay, type Way } from '../../kit/directions.ts';
import type { RequestOnPage } from '../actions.ts';
import { counterStep, mapAddress, timeLeft } from '../drive-words.ts';
import { serverNow } from './call-gateway.ts';
import { pauseTaps, setShown, setText, text, texts } from './elements.ts';

/** The contents of a request's card. */

/** Which actions a card shows. */
type CardState = 'open' | 'counter' | 'offered' | 'declined' | 'gone';

export const partsOf =
  (item: HTMLElement) =>
  <Kind extends Element = HTMLElement>(name: string): Kind =>
    item.querySelector(`[data-part="${name}"]`) as Kind;

export const likelyMinutes = (request: RequestOnPage, place: Point | null): number =>
  Math.max(1, Math.ceil(driveMs(pickupWay(request, place).km) / 60_000));

/** Shows the trip, which the partner can change while the request is open. */
export function showFacts(item: HTMLElement, request: RequestOnPage): void {
  const part = partsOf(item);
  item.dataset.ride = request.rideId;
  setText(part('kind'), texts.kindOf(request));
  setText(part('special'), texts.specialWords(request));
  part('special').hidden = !texts.specialWords(request);
  setText(part('passengers'), request.passengerCount.toLocaleString(texts.locale));
  showWay(item, 'trip', tripWay(request));
  for (const [name, place] of [
    ['pickup-map', request.pickup],
    ['destination-map', request.destination],
  ] as const) {
    part<HTMLAnchorElement>(name).href = mapAddress(place, navigator.userAgent);
  }
}

export function showFare(item: HTMLElement, fare: number): void {
  const part = partsOf(item);
  const price = texts.money(fare);
  setText(part('fare'), price);
  part('fare').toggleAttribute('data-long', price.length > 7);
  setText(part('accept-text'), text('accept', { price }));
}

function showWay(item: HTMLElement, name: 'pickup' | 'trip', { km, degrees, direction }: Way): void {
  const part = partsOf(item);
  setText(part(name), texts.kilometers(km));
  setText(part(`${name}-words`), direction && text('direction', { direction }));
  const arrow = part<SVGElement>(`${name}-arrow`);
  arrow.toggleAttribute('hidden', degrees === undefined);
  arrow.setAttribute('transform', `rotate(${Math.round(degrees ?? 0)} 8 8)`);
}

/** Shows the time left, and the way from the driver's position. */
export function tick(item: HTMLElement, request: RequestOnPage, place: Point | null, biddingMs: number): void {
  const part = partsOf(item);
  const leftMs = request.biddingEndsAt - serverNow();
  setText(part('left'), timeLeft(leftMs));
  const share = Math.max(0, Math.min(1, leftMs / biddingMs));
  part<SVGElement>('ring').setAttribute('stroke-dasharray', `${(share * 100).toFixed(1)} 100`);
  item.toggleAttribute('data-soon', leftMs < 60_000);
  showWay(item, 'pickup', pickupWay(request, place));
  setText(part('accept-eta'), text('there', { minutes: likelyMinutes(request, place) }));
}

export interface Terms {
  price: number;
  etaMinutes: number;
}

/** The two steppers of a counter-offer. It starts one step above the fare. */
export function createCounter(item: HTMLElement) {
  const part = partsOf(item);
  const terms: Terms = { price: 0, etaMinutes: 1 };
  let step = 1;

  function change({ price = terms.price, etaMinutes = terms.etaMinutes }: Partial<Terms>): void {
    terms.price = Math.max(1, Math.round(price * 100) / 100);
    terms.etaMinutes = Math.min(1_440, Math.max(1, etaMinutes));
    const [shownPrice, minutes] = [texts.money(terms.price), terms.etaMinutes];
    setText(part('price'), shownPrice);
    setText(part('minutes'), text('minutes', { minutes }));
    setText(part('offer-text'), text('offer', { price: shownPrice }));
    setText(part('offer-eta'), text('there', { minutes }));
  }

  const onClick = (name: string, by: () => Partial<Terms>) => part(name).addEventListener('click', () => change(by()));
  onClick('price-less', () => ({ price: terms.price - step }));
  onClick('price-more', () => ({ price: terms.price + step }));
  onClick('minutes-less', () => ({ etaMinutes: terms.etaMinutes - 1 }));
  onClick('minutes-more', () => ({ etaMinutes: terms.etaMinutes + 1 }));

  return {
    terms: (): Terms => ({ ...terms }),
    start(fare: number, etaMinutes: number): void {
      step = counterStep(fare);
      change({ price: fare + step, etaMinutes });
    },
    /** A counter-offer that the fare has reached starts above it again. */
    raise(fare: number): void {
      if (terms.price > fare) return;
      step = counterStep(fare);
      change({ price: fare + step });
    },
  };
}

/** Shows the actions of this state in place of the others. */
export function setState(item: HTMLElement, state: CardState): void {
  const had = item.contains(document.activeElement);
  for (const row of item.querySelectorAll<HTMLElement>('[data-for]')) setShown(row, row.dataset.for === state);
  if (item.dataset.state === state) return;
  item.dataset.state = state;
  pauseAllTaps(item);
  // The focused button is hidden now, so the focus moves to its replacement.
  if (had) item.querySelector<HTMLElement>(`[data-for="${state}"] button`)?.focus();
}

/** Steppers are not paused: they change nothing that is sent. */
export function pauseAllTaps(item: HTMLElement): void {
  for (const button of item.querySelectorAll('[data-for] button:not(.stepper button)')) pauseTaps(button);
}
