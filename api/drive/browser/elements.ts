/** A button ignores taps this long after its meaning changed: a second tap was meant for the old button. */
const tapPauseMs = 500;

export const element = <Kind extends HTMLElement = HTMLElement>(id: string): Kind =>
  document.getElementById(id) as Kind;

/** Changes a text only if it differs, so that a screen reader does not repeat it. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Makes a button ignore taps for a moment. */
export function pauseTaps(button: Element): void {
  button.setAttribute('aria-disabled', 'true');
  setTimeout(() => button.removeAttribute('aria-disabled'), tapPauseMs);
}

/** Sets the label of a button. A new label also pauses taps. */
export function setAction(button: HTMLElement, text: string): void {
  if (button.textContent === text) return;
  button.textContent = text;
  pauseTaps(button);
}

/** Shows or hides an element. A button that appears in place of another ignores taps for a moment. */
export function setShown(target: HTMLElement, isShown: boolean): void {
  if (target.hidden === !isShown) return;
  target.hidden = !isShown;
  if (isShown && target instanceof HTMLButtonElement) pauseTaps(target);
}

export function onTap(button: Element, act: () => void): void {
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') act();
  });
}

/** The URL that opens a place in the phone's maps. It contains the place, and nothing about the ride. */
export function mapAddress({ lat, lng }: { lat: number; lng: number }): string {
  const place = `${lat},${lng}`;
  const isApple = /iPhone|iPad|Macintosh/.test(navigator.userAgent);
  return isApple ? `https://maps.apple.com/?daddr=${place}` : `geo:${place}?q=${place}`;
}
