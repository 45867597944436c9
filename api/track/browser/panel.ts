import type { TrackState } from '../track-state.ts';
import { ratingText, seenWords, shownSteps, stepWords, wordsFor } from '../words.ts';

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

/** Changes a text only if it differs, so that screen readers read it only once. */
function setText(id: string, text: string): void {
  const target = element(id);
  if (target.textContent !== text) target.textContent = text;
}

/** The text beside the map. */
export function createPanel() {
  let spokenFirst = true;

  function show(state: TrackState, now: number): void {
    const { headline, status } = wordsFor(state, now);
    setText('headline', headline);
    setText('status', status);
    document.title = document.title.replace(/^.* - /, `${headline} - `);
    // Screen readers have read the first texts with the page.
    if (!spokenFirst) setText('spoken', `${headline}. ${status}`);
    spokenFirst = false;
    const seen = seenWords(state, now);
    element('seen').hidden = seen === null;
    setText('seen', seen ?? '');
    showDriver(state.driver);
    showSteps(state);
  }

  return {
    show,
    showConnection: (isGood: boolean): void => {
      element('connection').hidden = isGood;
    },
  };
}

function showDriver(driver: TrackState['driver']): void {
  element('driver').hidden = !driver;
  if (!driver) return;
  setText('plate', driver.plate);
  setText('vehicle', driver.vehicle);
  setText('first-name', driver.firstName);
  setText('rating', ratingText(driver.rating));
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
let lastSteps = '';

function showSteps(state: TrackState): void {
  const key = JSON.stringify(state.steps);
  if (key === lastSteps) return;
  lastSteps = key;
  element('steps').replaceChildren(
    ...shownSteps(state).map(({ status, at, kind }) => {
      const item = document.createElement('li');
      item.dataset.step = status;
      item.className = kind;
      if (kind === 'present') item.setAttribute('aria-current', 'step');
      const word = document.createElement('span');
      word.textContent = stepWords[status];
      item.append(word);
      if (at !== undefined) {
        const time = document.createElement('time');
        time.dateTime = new Date(at).toISOString();
        time.textContent = clockTime.format(at);
        item.append(time);
      }
      return item;
    }),
  );
}
