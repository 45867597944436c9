/** A button ignores taps this long after its meaning changed: a second tap was meant for the old button. */
const settleMs = 500;

export const element = <Kind extends HTMLElement = HTMLElement>(id: string): Kind =>
  document.getElementById(id) as Kind;

/** Changes a text only where it differs: what is read out is read once. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** For a moment the button ignores taps. */
export function settle(button: Element): void {
  button.setAttribute('aria-disabled', 'true');
  setTimeout(() => button.removeAttribute('aria-disabled'), settleMs);
}

/** Gives a button its words, and time to settle where they are new. */
export function setAction(button: HTMLElement, text: string): void {
  if (button.textContent === text) return;
  button.textContent = text;
  settle(button);
}

/** Shows or hides. A button that appears in the place of another ignores taps for a moment. */
export function setShown(target: HTMLElement, isShown: boolean): void {
  if (target.hidden === !isShown) return;
  target.hidden = !isShown;
  if (isShown && target instanceof HTMLButtonElement) settle(target);
}

export function onTap(button: Element, act: () => void): void {
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') act();
  });
}

/** The address that opens a place in the phone's maps. It names the place and nothing of the ride. */
export function mapAddress({ lat, lng }: { lat: number; lng: number }): string {
  const place = `${lat},${lng}`;
  const isApple = /iPhone|iPad|Macintosh/.test(navigator.userAgent);
  return isApple ? `https://maps.apple.com/?daddr=${place}` : `geo:${place}?q=${place}`;
}
