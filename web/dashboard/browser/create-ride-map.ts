import { clockLocale } from '../../kit/browser/local-times.ts';
import { languageOf } from '../../kit/message-format.ts';
import { createMovingMap } from '../../track/browser/moving-map.ts';
import type { TrackState } from '../../track/track-state.ts';
import { type MapLanguage, seenWords, wordsFor } from '../../track/track-words.ts';

/** The live map inside a ride's page, and its texts in the page's head. `show` gets each new state. */
export function createRideMap(container: HTMLElement, first: TrackState): { show(state: TrackState): void } {
  const map = createMovingMap(container, first);
  const texts = document.getElementById('map-words')?.dataset.texts ?? '';
  const english: MapLanguage = languageOf(clockLocale, JSON.parse(texts));
  let current = first;

  function showWords(): void {
    const now = map.now();
    const { headline, when, status } = wordsFor(current, now, english);
    setText('headline', headline);
    setText('headline-when', when ? `${when.before}${clockTime.format(when.at)}${when.after}.` : '');
    setText('headline-more', seenWords(current, now, english) ?? status);
  }

  letPageScroll(container);
  showWords();
  // The ETA and the age of the last report change with time.
  setInterval(showWords, 1_000);
  return {
    show(state) {
      current = state;
      map.show(state);
      showWords();
    },
  };
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

function setText(id: string, text: string): void {
  const element = document.getElementById(id);
  if (element && element.textContent !== text) element.textContent = text;
}

/** The wheel and a finger scroll the page, also over the map. Its buttons, the mouse and arrow keys move the map. */
function letPageScroll({ parentElement: box }: HTMLElement): void {
  const capture = { capture: true, passive: true } as const;
  const keepFromMap = (event: Event) => event.stopPropagation();
  box?.addEventListener('wheel', keepFromMap, capture);
  box?.addEventListener('touchstart', keepFromMap, capture);
  box?.addEventListener(
    'pointerdown',
    (event) => {
      if (event.pointerType === 'touch') event.stopPropagation();
    },
    capture,
  );
}
