import { enhance } from '../../kit/browser/enhance.ts';
import { isLate } from '../../kit/browser/follow.ts';
import { patch } from '../../kit/browser/patch.ts';
import type { BoardState } from '../board-state.ts';

/** Shows the states of a board. Rows that stay keep their elements, so the focus and an open text survive. */

const byId = (id: string) => document.getElementById(id);
const list = byId('board-list') as HTMLElement;

/** Rows do not change their places under a pointer that has moved or been pressed within this time. */
const aimingMs = 800;
let aimedAt = Number.NEGATIVE_INFINITY;
for (const name of ['pointermove', 'pointerdown'] as const) {
  list.addEventListener(name, () => {
    aimedAt = performance.now();
  });
}

let shownAt = 0;
let latestOrder: BoardState['order'] = [];
let orderTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a state, unless a newer one is shown. Returns false if the page lacks a row of this state. */
export function showBoard({ now, order, html }: BoardState): boolean {
  if (isLate(now, shownAt)) return true;
  shownAt = now;
  latestOrder = order;
  const fresh = new DOMParser().parseFromString(html, 'text/html');
  enhance(fresh);
  keepPlace(() => {
    patchRows(fresh);
    if (orderTimer === undefined) arrange();
  });
  return order.every(([id, stamp]) => byId(id)?.dataset.stamp === stamp);
}

function patchRows(fresh: Document): void {
  const focused = list.querySelector(':focus');
  const rowInFocus = focused?.closest('.board-ride')?.id ?? '';
  for (const element of [...fresh.body.children]) {
    const shown = byId(element.id);
    if (shown) patch(shown, element);
    // New rows wait at the end, invisible, until they get their places.
    else if (element.localName === 'li') list.append(hidden(element as HTMLElement));
  }
  // The focused button is gone, for example after an accept.
  if (focused && !focused.isConnected) byId(rowInFocus)?.querySelector('a')?.focus({ preventScroll: true });
}

function hidden(row: HTMLElement): HTMLElement {
  row.hidden = true;
  return row;
}

/** Puts the rows into their order, once the person is not about to press a button. */
function arrange(): void {
  const waitMs = aimedAt + aimingMs - performance.now();
  orderTimer = undefined;
  if (waitMs > 0 && list.matches(':hover')) {
    orderTimer = setTimeout(() => keepPlace(arrange), waitMs);
    return;
  }
  const focused = list.querySelector<HTMLElement>(':focus');
  const wanted = new Set(latestOrder.map(([id]) => id));
  for (const row of [...list.children]) if (!wanted.has(row.id)) row.remove();
  let next = list.firstElementChild;
  for (const [id] of latestOrder) {
    const row = byId(id);
    if (!row) continue;
    row.hidden = false;
    if (row === next) next = next.nextElementSibling;
    else list.insertBefore(row, next);
  }
  // A row that has moved has lost the focus.
  if (focused) (focused.isConnected ? focused : byId('board-title'))?.focus({ preventScroll: true });
  list.dispatchEvent(new Event('arranged'));
}

function isVisible(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/** The first row that the person sees, if the board is scrolled. */
const firstVisible = (): Element | undefined =>
  topOf(list) < 0 ? [...list.children].find((row) => topOf(row) >= 0) : undefined;

/** Changes the board, and scrolls the page so that what the person looks at stays where it is. */
function keepPlace(change: () => void): void {
  const focused = list.querySelector(':focus');
  const candidates = focused && isVisible(focused) ? [focused, focused.closest('li')] : [firstVisible()];
  const places = candidates.flatMap((element) => (element ? { element, top: topOf(element) } : []));
  change();
  const kept = places.find(({ element }) => element.isConnected);
  if (kept) scrollBy({ top: topOf(kept.element) - kept.top, behavior: 'instant' });
}

const topOf = (element: Element): number => element.getBoundingClientRect().top;
