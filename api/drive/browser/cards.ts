import type { RequestOnPage } from '../actions.ts';
import { kilometers, kindOf, money, pickupWords, timeLeft } from '../words.ts';
import { mapAddress, onTap, pauseTaps, setShown, setText } from './elements.ts';
import { serverNow } from './gateway.ts';

/**
 * An ended request without an offer of this driver stays visible this long, so that the list does not move while the
 * driver taps.
 */
const goneForMs = 6_000;
/** Converts straight-line distance to time: a third more by road, at 30 km/h. */
const minutesPerKm = 2.6;

interface Choices {
  onOffer(rideId: string, terms: { price: number; etaMinutes: number }): void;
  onWithdraw(request: RequestOnPage): void;
  /** Called when the card of an ended request is removed. */
  onRemoved(): void;
}

interface Card {
  item: HTMLElement;
  request: RequestOnPage;
  isGone: boolean;
  /** Shows the fare of the request, and raises a counter-offer below the fare to the fare. */
  showFare?(): void;
}

const likelyMinutes = (pickupKm: number): number => Math.max(1, Math.ceil(pickupKm * minutesPerKm));

/** The request cards, earliest end first. A card never changes its height or its place. */
export function createCards(list: HTMLElement, template: HTMLTemplateElement, biddingMs: number, choices: Choices) {
  const cards = new Map<string, Card>();

  /** Shows the open requests. Cards of ended requests stay for a while. */
  function show(requests: RequestOnPage[]): void {
    const open = new Set(requests.map(({ rideId }) => rideId));
    for (const card of [...cards.values()]) if (!card.isGone && !open.has(card.request.rideId)) remove(card);
    for (const request of requests) {
      const card = cards.get(request.rideId) ?? add(request);
      const isRaised = request.fare > card.request.fare;
      Object.assign(card, { request, isGone: false });
      if (isRaised) card.showFare?.();
      fillIn(card);
    }
    putInOrder();
  }

  function add(request: RequestOnPage): Card {
    const item = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
    const card: Card = { item, request, isGone: false };
    cards.set(request.rideId, card);
    prepare(card);
    return card;
  }

  /** Fills in the texts that never change, and the buttons. */
  function prepare(card: Card): void {
    const { item, request } = card;
    const part = partsOf(item);
    const { rideId, pickupKm, distanceKm, passengerCount } = request;
    item.dataset.ride = rideId;
    setText(part('kind'), kindOf(request) + pickupWords(request));
    setText(part('pickup'), kilometers(pickupKm));
    setText(part('trip'), kilometers(distanceKm));
    setText(part('passengers'), String(passengerCount));
    part<HTMLAnchorElement>('pickup-map').href = mapAddress(request.pickup);
    part<HTMLAnchorElement>('destination-map').href = mapAddress(request.destination);

    const terms = { price: request.fare, etaMinutes: likelyMinutes(pickupKm) };
    setText(part('accept-eta'), `there in ${terms.etaMinutes} min`);
    onTap(part('accept'), () =>
      choices.onOffer(rideId, { price: card.request.fare, etaMinutes: likelyMinutes(pickupKm) }),
    );

    const step = request.fare >= 100 ? 5 : 1;
    const change = (by: Partial<typeof terms>) => {
      terms.price = Math.max(1, Math.round((terms.price + (by.price ?? 0)) * 100) / 100);
      terms.etaMinutes = Math.min(1_440, Math.max(1, terms.etaMinutes + (by.etaMinutes ?? 0)));
      setText(part('price'), money(terms.price));
      setText(part('minutes'), `${terms.etaMinutes} min`);
      setText(part('offer'), `Offer ${money(terms.price)}, in ${terms.etaMinutes} min`);
    };
    card.showFare = () => {
      const { fare } = card.request;
      setText(part('fare'), money(fare));
      part('fare').toggleAttribute('data-long', money(fare).length > 7);
      setText(part('accept-text'), `Accept ${money(fare)}`);
      change({ price: Math.max(0, fare - terms.price) });
    };
    card.showFare();
    part('price-less').addEventListener('click', () => change({ price: -step }));
    part('price-more').addEventListener('click', () => change({ price: step }));
    part('minutes-less').addEventListener('click', () => change({ etaMinutes: -1 }));
    part('minutes-more').addEventListener('click', () => change({ etaMinutes: 1 }));
    onTap(part('counter'), () => openCounter(item, part('counter').getAttribute('aria-expanded') !== 'true'));
    onTap(part('offer'), () => choices.onOffer(rideId, { ...terms }));
    onTap(part('withdraw'), () => choices.onWithdraw(card.request));
    onTap(part('dismiss'), () => dismiss(card));
  }

  function fillIn({ item, request }: Card): void {
    const { offer } = request;
    if (offer) {
      const words = offer.offerId ? 'Your offer' : 'Sending your offer';
      setText(partsOf(item)('offered'), `${words}: ${money(offer.price)}, in ${offer.etaMinutes} min`);
    }
    setState(item, offer ? 'offered' : 'open');
    tick(item, request.biddingEndsAt);
  }

  /** Marks a request as no longer open. The reason may follow (`explain`). */
  function end(rideId: string): void {
    const card = cards.get(rideId);
    if (!card || card.isGone) return;
    card.isGone = true;
    setText(partsOf(card.item)('gone'), 'No longer open');
    setState(card.item, 'gone');
    if (!card.request.offer) setTimeout(() => dismiss(card), goneForMs);
  }

  function dismiss(card: Card): void {
    // Keeps the card if the request is open again. The card may also be removed already.
    if (!card.isGone || cards.get(card.request.rideId) !== card) return;
    remove(card);
    choices.onRemoved();
  }

  function remove(card: Card): void {
    cards.delete(card.request.rideId);
    card.item.remove();
    for (const { item } of cards.values()) pauseAllTaps(item);
  }

  /** Moves only the cards that are out of order, because a moved card loses the focus. */
  function putInOrder(): void {
    const sorted = [...cards.values()].sort(
      ({ request: a }, { request: b }) => a.biddingEndsAt - b.biddingEndsAt || (a.rideId < b.rideId ? -1 : 1),
    );
    for (const [index, { item }] of sorted.entries()) {
      const there = list.children[index];
      if (there === item) continue;
      list.insertBefore(item, there ?? null);
      for (const { item: moved } of sorted.slice(index)) pauseAllTaps(moved);
    }
  }

  function tick(item: HTMLElement, endsAt: number): void {
    const leftMs = endsAt - serverNow();
    setText(partsOf(item)('left'), timeLeft(leftMs));
    const share = Math.max(0, Math.min(1, leftMs / biddingMs));
    partsOf(item)<SVGElement>('ring').setAttribute('stroke-dasharray', `${(share * 100).toFixed(1)} 100`);
    item.toggleAttribute('data-soon', leftMs < 60_000);
  }

  setInterval(() => {
    for (const { item, request, isGone } of cards.values()) if (!isGone) tick(item, request.biddingEndsAt);
  }, 1_000);

  return {
    show,
    end,
    /** Shows how a request has ended; without `words`, removes its card. */
    explain(rideId: string, words: string | null): void {
      const card = cards.get(rideId);
      if (!card?.isGone) return;
      if (words) setText(partsOf(card.item)('gone'), words);
      else dismiss(card);
    },
    clear(): void {
      for (const card of [...cards.values()]) remove(card);
    },
    get count(): number {
      return cards.size;
    },
    /** The requests that are open as far as this page knows. */
    open: (): RequestOnPage[] => [...cards.values()].filter(({ isGone }) => !isGone).map(({ request }) => request),
  };
}

const partsOf =
  (item: HTMLElement) =>
  <Kind extends Element = HTMLElement>(name: string): Kind =>
    item.querySelector(`[data-part="${name}"]`) as Kind;

function openCounter(item: HTMLElement, isOpen: boolean): void {
  const part = partsOf(item);
  part('counter-panel').hidden = !isOpen;
  part('counter').setAttribute('aria-expanded', String(isOpen));
  if (isOpen) part('counter-panel').scrollIntoView({ block: 'nearest' });
}

/** Shows the row with the actions of this state. All rows have the same height. */
function setState(item: HTMLElement, state: 'open' | 'offered' | 'gone'): void {
  const had = item.contains(document.activeElement);
  if (state !== 'open') openCounter(item, false);
  for (const row of item.querySelectorAll<HTMLElement>('.choice')) setShown(row, row.dataset.for === state);
  if (item.dataset.state === state) return;
  item.dataset.state = state;
  pauseAllTaps(item);
  // The focused button is hidden now, so the focus moves to its replacement.
  if (had) item.querySelector<HTMLElement>(`.choice[data-for="${state}"] button`)?.focus();
}

function pauseAllTaps(item: HTMLElement): void {
  for (const button of item.querySelectorAll('.choice button, [data-part="offer"]')) pauseTaps(button);
}
