import { enhance } from './enhance.ts';

/**
 * Keeps the part `data-live` of a page up to date: while an answer is expected (`data-waiting`), reads the page again each
 * second, and replaces the part when its version has changed. In a ride's timeline, links (`data-entry`) replace the part
 * without loading the page anew.
 */
const everyMs = 1_000;
/** After this many reads an answer is not near: a worker may be down. */
const quickReads = 30;
const slowMs = 10_000;

const present = () => document.querySelector<HTMLElement>('[data-live]');

/** Reads a page of ours, and resolves with its live part; null where there is none, as on the sign-in page. */
async function read(url: string): Promise<HTMLElement | null> {
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = page.title;
  return page.querySelector<HTMLElement>('[data-live]');
}

/** Puts a part in the place of the present one. Focus stays on the link or button that has it. */
function show(part: HTMLElement): void {
  const focused = document.activeElement;
  const href = focused?.getAttribute('href');
  present()?.replaceWith(part);
  enhance(part);
  if (!href || document.contains(focused)) return;
  [...part.querySelectorAll<HTMLElement>('a[href]')]
    .find((link) => link.getAttribute('href') === href)
    ?.focus({ preventScroll: true });
}

let reads = 0;

async function follow(): Promise<void> {
  const before = present();
  if (before?.dataset.waiting === undefined) return;
  if (!document.hidden) {
    reads += 1;
    const url = location.href;
    const part = await read(url).catch(() => null);
    // The person may have chosen another entry in the meantime.
    if (part && present() === before && location.href === url && part.dataset.live !== before.dataset.live) show(part);
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
