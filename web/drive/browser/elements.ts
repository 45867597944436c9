import { isolated } from '../../../shared/base/shown-text.ts';
import { languageOf } from '../../kit/message-format.ts';
import { driveWords } from '../drive-words.ts';

/** The elements of the page, and the texts in its language. */

/** A button ignores taps this long after its meaning changed: a second tap was meant for the old button. */
const tapPauseMs = 500;

export const element = <Kind extends HTMLElement = HTMLElement>(id: string): Kind =>
  document.getElementById(id) as Kind;

/** The texts, which the page embeds. */
export const texts = driveWords(languageOf(document.documentElement.lang, JSON.parse(element('texts').textContent)));
export const { text } = texts;

/** Changes a text only if it differs, so that a screen reader does not repeat it. */
export function setText(target: Element, text: string): void {
  const shown = isolated(text);
  if (target.textContent !== shown) target.textContent = shown;
}

/** Makes a button ignore taps for a moment. */
export function pauseTaps(button: Element): void {
  button.setAttribute('aria-disabled', 'true');
  setTimeout(() => button.removeAttribute('aria-disabled'), tapPauseMs);
}

export const isPaused = (button: Element): boolean => button.getAttribute('aria-disabled') === 'true';

/** Sets the label inside a button. A new label also pauses taps. */
export function setAction(button: Element, label: Element, text: string): void {
  if (label.textContent === text) return;
  label.textContent = text;
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
    if (!isPaused(button)) act();
  });
}
