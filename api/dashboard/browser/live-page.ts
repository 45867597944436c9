import { enhance } from './enhance.ts';

/**
 * Keeps the part `data-live` of a page up to date: while an answer is expected (`data-waiting`), fetches the page every
 * second, and replaces the part when its version has changed. In a ride's timeline, links (`data-entry`) replace the
 * part without loading a new page.
 */
const everyMs = 1_000;
/** After this many reads, no answer is expected soon: a worker may be down. */
const quickReads = 30;
const slowMs = 10_000;

const livePart = () => document.querySelector<HTMLElement>('[data-live]');

/** Fetches a page of the dashboard. Resolves with its live part, or with null if it has none, like the sign-in page. */
async function read(url: string): Promise<HTMLElement | null> {
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = page.title;
  return page.querySelector<HTMLElement>('[data-live]');
}

/** Replaces the current part with a new one. A focused link keeps the focus. */
function show(part: HTMLElement): void {
  const focused = document.activeElement;
  const href = focused?.getAttribute('href');
  livePart()?.replaceWith(part);
  enhance(part);
  if (!href || document.contains(focused)) return;
  [...part.querySelectorAll<HTMLElement>('a[href]')]
    .find((link) => link.getAttribute('href') === href)
    ?.focus({ preventScroll: true });
}

let reads = 0;

async function follow(): Promise<void> {
  const before = livePart();
  if (before?.dataset.waiting === undefined) return;
  if (!document.hidden) {
    reads += 1;
    const url = location.href;
    const part = await read(url).catch(() => null);
    // The person may have chosen another entry in the meantime.
    if (part && livePart() === before && location.href === url && part.dataset.live !== before.dataset.live) show(part);
  }
  setTimeout(follow, reads < quickReads ? everyMs : slowMs);
}

async function choose(url: string): Promise<void> {
  const part = await read(url).catch(() => null);
  if (!part) return location.assign(url);
  if (location.href !== url) return;
  show(part);
  const detail = document.getElementById('detail');
  const isBelow = detail && detail.getBoundingClientRect().top > innerHeight / 2;
  if (isBelow) detail.scrollIntoView();
  const said = document.getElementById('said');
  if (said) said.textContent = detail?.querySelector('h2')?.textContent ?? '';
}

document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-entry]');
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  void choose(link.href);
});

addEventListener('popstate', () => {
  if (document.querySelector('a[data-entry]')) void choose(location.href);
});

setTimeout(follow, everyMs);
