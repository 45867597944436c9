import type { Point } from '../../../shared/base/great-circle.ts';
import type { RequestOnPage } from '../actions.ts';
import {
  createCounter,
  likelyMinutes,
  partsOf,
  pauseAllTaps,
  setState,
  showFacts,
  showFare,
  type Terms,
  tick,
} from './card-view.ts';
import { onTap, setText, text, texts } from './elements.ts';

/**
 * An ended request without an offer of this driver stays visible this long, so that the list does not move while the
 * driver taps.
 */
const goneForMs = 6_000;
/** A declined request can be kept for this long. Then the service is asked to remove it. */
const undoMs = 6_000;

interface Choices {
  onOffer(rideId: string, terms: Terms): void;
  onWithdraw(request: RequestOnPage): void;
  onDecline(rideId: string): void;
  /** Called when the card of an ended request is removed. */
  onRemoved(): void;
  /** The driver's position, if it is known. */
  place(): Point | null;
}

interface Card {
  item: HTMLElement;
  request: RequestOnPage;
  isGone: boolean;
  /** The driver is choosing another price. */
  isCountered: boolean;
  counter: ReturnType<typeof createCounter>;
  /** Set while the driver can keep a declined request. */
  declining?: ReturnType<typeof setTimeout>;
}

/** The request cards, earliest end first. A card never changes its place. */
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
      // An offer from another page of this driver replaces the refusal.
      if (request.offer) stopDeclining(card);
      showFacts(card.item, request);
      showFare(card.item, request.fare);
      if (isRaised) card.counter.raise(request.fare);
      fillIn(card);
    }
    putInOrder();
  }

  function add(request: RequestOnPage): Card {
    const item = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
    const card: Card = { item, request, isGone: false, isCountered: false, counter: createCounter(item) };
    cards.set(request.rideId, card);
    listen(card);
    return card;
  }

  function listen(card: Card): void {
    const part = partsOf(card.item);
    const { rideId } = card.request;
    const etaMinutes = () => likelyMinutes(card.request, choices.place());
    const setCountered = (isCountered: boolean) => {
      card.isCountered = isCountered;
      if (isCountered) card.counter.start(card.request.fare, etaMinutes());
      fillIn(card);
    };
    onTap(part('accept'), () => choices.onOffer(rideId, { price: card.request.fare, etaMinutes: etaMinutes() }));
    onTap(part('counter'), () => setCountered(true));
    onTap(part('back'), () => setCountered(false));
    onTap(part('offer'), () => {
      card.isCountered = false;
      choices.onOffer(rideId, card.counter.terms());
    });
    onTap(part('decline'), () => decline(card));
    onTap(part('undo'), () => {
      stopDeclining(card);
      fillIn(card);
    });
    onTap(part('withdraw'), () => choices.onWithdraw(card.request));
    onTap(part('dismiss'), () => dismiss(card));
  }

  function decline(card: Card): void {
    card.declining = setTimeout(() => remove(card), undoMs);
    fillIn(card);
  }

  function stopDeclining(card: Card): void {
    clearTimeout(card.declining);
    card.declining = undefined;
  }

  function fillIn({ item, request, declining, isCountered }: Card): void {
    const { offer } = request;
    if (offer) {
      const part = partsOf(item);
      const key = offer.isWithdrawn ? 'offered.withdrawing' : offer.offerId ? 'offered' : 'offered.sending';
      setText(part('offered'), text(key, { price: texts.money(offer.price) }));
      setText(part('offered-eta'), text('offered.eta', { minutes: offer.etaMinutes }));
    }
    tick(item, request, choices.place(), biddingMs);
    setState(item, offer ? 'offered' : declining ? 'declined' : isCountered ? 'counter' : 'open');
  }

  /** Marks a request as no longer open. The reason may follow (`explain`). */
  function end(rideId: string): void {
    const card = cards.get(rideId);
    if (!card || card.isGone) return;
    card.isGone = true;
    if (card.declining) {
      stopDeclining(card);
      dismiss(card);
      return;
    }
    setText(partsOf(card.item)('gone'), text('gone'));
    setState(card.item, 'gone');
    if (!card.request.offer) setTimeout(() => dismiss(card), goneForMs);
  }

  function dismiss(card: Card): void {
    // Keeps the card if the request is open again. The card may also be removed already.
    if (!card.isGone || cards.get(card.request.rideId) !== card) return;
    remove(card);
    choices.onRemoved();
  }

  /** Removes a card. If its request was declined, the driver can no longer keep it. */
  function remove(card: Card): void {
    const isDeclined = card.declining !== undefined;
    stopDeclining(card);
    cards.delete(card.request.rideId);
    card.item.remove();
    for (const { item } of cards.values()) pauseAllTaps(item);
    if (isDeclined) choices.onDecline(card.request.rideId);
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

  // A page that closes must not lose a declined request.
  addEventListener('pagehide', () => {
    for (const card of [...cards.values()]) if (card.declining) remove(card);
  });
  setInterval(() => {
    for (const { item, request, isGone } of cards.values()) {
      if (!isGone) tick(item, request, choices.place(), biddingMs);
    }
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
