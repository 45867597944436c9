import type { MapLanguage } from '../track-words.ts';

/** The parts of the sheet that react to the viewer. */

/** A swipe over the answer shows or hides the details, like the checkbox. */
export function swipeDetails(answer: HTMLElement, checkbox: HTMLInputElement): void {
  let startY = 0;
  answer.addEventListener(
    'touchstart',
    ({ touches }) => {
      startY = touches[0]?.clientY ?? 0;
    },
    { passive: true },
  );
  answer.addEventListener('touchend', ({ changedTouches }) => {
    const movedBy = (changedTouches[0]?.clientY ?? startY) - startY;
    if (Math.abs(movedBy) > 32) checkbox.checked = movedBy < 0;
  });
}

/** Reports a press of "I need help" to the desk. The link calls or opens the page, with or without this report. */
export function reportHelp(link: HTMLElement | null): void {
  link?.addEventListener('click', () => {
    const url = `${location.pathname.replace(/\/$/, '')}/help`;
    void fetch(url, { method: 'POST', keepalive: true, credentials: 'omit' }).catch(() => {});
  });
}

/** Shares the link to this map, or copies it where the browser cannot share. `say` is for screen readers. */
export function offerShare(button: HTMLElement, { text }: MapLanguage, say: (text: string) => void): void {
  const url = `${location.origin}${location.pathname}`;
  const copy = async () => {
    const result = await navigator.clipboard.writeText(url).then(
      () => text('share.copied'),
      () => text('share.copy'),
    );
    button.textContent = result;
    say(result);
    setTimeout(() => {
      button.textContent = text('share');
    }, 3_000);
  };
  // The viewer can also close the browser's own dialog.
  const share = () => navigator.share({ title: document.title, url }).catch(() => {});
  if (typeof navigator.share === 'function') button.addEventListener('click', share);
  else if (navigator.clipboard) button.addEventListener('click', copy);
  else button.hidden = true;
}
