/** A heading is at the top of the window if it is above this line. */
const topPx = 96;

/** Scrolls the sidebar to the current page. */
export function showCurrentPage(): void {
  const rail = document.querySelector('.frame > .rail');
  const link = rail?.querySelector('[aria-current]');
  if (!rail || !link) return;
  const below = link.getBoundingClientRect().bottom - rail.getBoundingClientRect().bottom;
  if (below > 0) rail.scrollTop += below + rail.clientHeight / 3;
}

/** Marks the visible section in the table of contents. */
export function followSections(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [link.hash.slice(1), link]),
  );
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  if (headings.length === 0) return;
  let marked: HTMLAnchorElement | undefined;
  const mark = () => {
    // The last heading at the top of the window or above it; at the end of the page, the last heading.
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < topPx);
    const current = isAtEnd ? headings.at(-1) : (above.at(-1) ?? headings[0]);
    const link = links.get(current?.id ?? '');
    if (link === marked) return;
    marked?.removeAttribute('aria-current');
    link?.setAttribute('aria-current', 'location');
    marked = link;
  };
  let isWaiting = false;
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
