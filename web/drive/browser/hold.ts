import { isPaused, setText, text } from './elements.ts';

/** A held button acts after this time. The stylesheet fills the button in the same time. */
const holdMs = 1_000;

interface Holding {
  /** False while the button is an ordinary one, which acts when it is pressed. */
  isHeld(): boolean;
  act(): void;
  /** Asks first: for a keyboard, a screen reader or a switch, which press but cannot hold. */
  confirm(): void;
}

/** Makes a button act when it was held with a finger or a mouse. A tap only shows how. */
export function onHold(button: HTMLElement, hint: HTMLElement, { isHeld, act, confirm }: Holding): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isByReader = false;

  function release(words: string): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    button.removeAttribute('data-holding');
    setText(hint, words);
  }

  button.addEventListener('pointerdown', (event) => {
    isByReader = isFromReader(event);
    const { button: which, pointerId } = event;
    // A second finger does not start a second timer, which its release could not stop.
    if (timer !== undefined || isByReader || which !== 0 || !isHeld() || isPaused(button)) return;
    // A finger that moves out of the button in a shaking car still holds it.
    button.setPointerCapture(pointerId);
    button.setAttribute('data-holding', '');
    setText(hint, text('hold.on'));
    timer = setTimeout(() => {
      release(text('hold'));
      if (isHeld()) act();
    }, holdMs);
  });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) {
    button.addEventListener(name, () => release(text('hold.longer')));
  }
  // A key that is kept down would also make the next step.
  button.addEventListener('keydown', (event) => event.repeat && event.preventDefault());
  // A long press opens a menu in some browsers.
  button.addEventListener('contextmenu', (event) => event.preventDefault());
  button.addEventListener('click', ({ detail }) => {
    if (isPaused(button)) return;
    if (!isHeld()) act();
    // A click without a pointer counts no clicks.
    else if (detail === 0 || isByReader) confirm();
  });
}

/** Screen readers press with a pointer without a size (VoiceOver), or with a mouse without pressure (TalkBack). */
const isFromReader = ({ width, height, pressure, pointerType }: PointerEvent): boolean =>
  (width === 0 && height === 0) || (pointerType === 'mouse' && pressure === 0);
