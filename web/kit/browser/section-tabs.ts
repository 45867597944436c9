/** A part of the neighbouring tab stays visible, so that the row looks as if it scrolls. */
const peekPx = 32;
const place = 'place of the tabs';

/**
 * On a phone, the row of tabs scrolls sideways. Each page shows it where the previous page left it, moved only as far as
 * needed to have the active tab in view.
 */
export function keepTabsInPlace(): void {
  const row = document.querySelector<HTMLElement>('.rail');
  if (!row) return;
  row.scrollLeft = Number(sessionStorage.getItem(place) ?? 0);
  const tab = row.querySelector('[aria-current]')?.getBoundingClientRect();
  const view = row.getBoundingClientRect();
  if (tab && tab.left < view.left + peekPx) row.scrollLeft -= view.left + peekPx - tab.left;
  else if (tab && tab.right > view.right - peekPx) row.scrollLeft += tab.right - (view.right - peekPx);
  addEventListener('pagehide', () => sessionStorage.setItem(place, String(row.scrollLeft)));
}
