import { enhance } from './enhance.ts';
import { patch } from './patch.ts';

/**
 * The part `data-live` of a page, which changes while the page is open. It is fetched again and patched, so the focus,
 * a selection and the place of the page survive.
 */
const everyMs = 1_000;
/** After this many reads, no answer is expected soon: a worker may be down. */
const quickReads = 30;
const slowMs = 10_000;

export const livePart = () => document.querySelector<HTMLElement>('[data-live]');

interface LoadedPart {
  /** Null if the page is gone: deleted, not allowed, or replaced by the sign-in page. */
  part: HTMLElement | null;
  /** Counts the reads in the order in which they began. */
  turn: number;
}

let turns = 0;
let shownTurn = 0;

/** Fetches a page of the dashboard. Resolves with its live part, or with null if it could not be fetched. */
async function load(url: string): Promise<LoadedPart | null> {
  turns += 1;
  const turn = turns;
  try {
    const answer = await fetch(url, { headers: { accept: 'text/html' } });
    if ([401, 403, 404].includes(answer.status)) return { part: null, turn };
    if (!answer.ok) return null;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const part = page.querySelector<HTMLElement>('[data-live]');
    if (part) document.title = page.title;
    return { part, turn };
  } catch {
    return null;
  }
}

/** The heading of a ride's offers. */
const offers = '#offers-title, #past-offers > summary';

/**
 * Shows a part, unless a read that began later is shown already. A focused link keeps the focus. From another focused
 * element that disappears, such as the button of an offer, the focus moves to the offers.
 */
function show({ part, turn }: LoadedPart): void {
  const live = livePart();
  if (!live || !part || turn < shownTurn) return;
  shownTurn = turn;
  const focused = document.activeElement;
  enhance(part);
  patch(live, part);
  if (!focused || document.contains(focused)) return;
  const next =
    focused instanceof HTMLAnchorElement ? linkTo(focused.href) : document.querySelector<HTMLElement>(offers);
  next?.focus({ preventScroll: true });
}

/** The link to this address, preferably in the timeline. */
const linkTo = (url: string): HTMLAnchorElement | undefined =>
  ['.timeline a[href]', '[data-live] a[href]']
    .flatMap((selector) => [...document.querySelectorAll<HTMLAnchorElement>(selector)])
    .find(({ href }) => href === url);

/**
 * Fetches the page again and shows what has changed. `failed`: the page could not be fetched now. `gone`: it cannot be
 * fetched later either.
 */
export async function refresh(): Promise<'shown' | 'failed' | 'gone'> {
  const url = location.href;
  const loaded = await load(url);
  // The person may have chosen another entry in the meantime.
  const isCurrent = location.href === url && loaded?.part?.dataset.live !== livePart()?.dataset.live;
  if (loaded && isCurrent) show(loaded);
  if (!loaded) return 'failed';
  return loaded.part ? 'shown' : 'gone';
}

let reads = 0;

/** Refreshes the page while it expects an answer (`data-waiting`). */
async function follow(): Promise<void> {
  if (livePart()?.dataset.waiting === undefined) reads = 0;
  else if (!document.hidden) {
    reads += 1;
    await refresh();
  }
  setTimeout(follow, reads < quickReads ? everyMs : slowMs);
}

/** Shows the page of a link `data-entry` in place. */
async function choose(link: HTMLAnchorElement): Promise<void> {
  const url = link.href;
  const isInTimeline = link.closest('.timeline') !== null;
  const loaded = await load(url);
  if (!loaded?.part) return location.assign(url);
  // The person may have chosen another entry in the meantime.
  if (location.href !== url) return;
  const keep = placeKeeper(url);
  show(loaded);
  keep();
  const detail = document.getElementById('detail');
  const title = detail?.querySelector('h2');
  if (detail) detail.scrollTop = 0;
  requestAnimationFrame(() => {
    // Browsers that anchor the scroll position themselves have done so by now.
    keep();
    if (isInTimeline) title?.scrollIntoView({ block: 'nearest' });
    else detail?.scrollIntoView();
  });
  const said = document.getElementById('said');
  if (said) said.textContent = title?.textContent ?? '';
}

/** Returns a function that scrolls the page so that the chosen link is where it is now. */
function placeKeeper(url: string): () => void {
  const topOf = () => linkTo(url)?.getBoundingClientRect().top;
  const before = topOf();
  return () => {
    const after = topOf();
    if (before !== undefined && after !== undefined) scrollBy({ top: after - before, behavior: 'instant' });
  };
}

document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-entry]');
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.href !== location.href) history.pushState(null, '', link.href);
  void choose(link);
});

addEventListener('popstate', () => {
  if (document.querySelector('a[data-entry]')) void load(location.href).then((loaded) => loaded && show(loaded));
});

setTimeout(follow, everyMs);
