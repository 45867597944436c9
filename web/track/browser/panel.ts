import { isolated } from '../../../shared/base/shown-text.ts';
import { ratingIn } from '../../kit/message-format.ts';
import type { TrackState } from '../track-state.ts';
import {
  asksForRating,
  destinationWords,
  type MapLanguage,
  seenWords,
  shownDriver,
  shownSteps,
  utcText,
  wordsFor,
} from '../track-words.ts';

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

/** Changes a text only if it differs, so that screen readers read it only once. */
function setText(id: string, text: string): void {
  const target = element(id);
  const shown = isolated(text);
  if (target.textContent !== shown) target.textContent = shown;
}

/** For screen readers only. */
export const say = (text: string): void => setText('spoken', text);

/** The text beside the map. */
export function createPanel(language: MapLanguage) {
  const clockTime = new Intl.DateTimeFormat(language.locale, { hour: 'numeric', minute: '2-digit' });
  // Screen readers have read the first texts with the page.
  let spoken = '';
  let lastSteps = '';

  /** Shows the texts at a time. */
  function show(state: TrackState, now: number): void {
    const { headline, when, status } = wordsFor(state, now, language);
    element('facts').dataset.status = state.status;
    setText('headline', headline);
    showWhen(when);
    setText('status', status);
    setText('destination', destinationWords(state, language));
    document.title = document.title.replace(/^.* - /, `${headline} - `);
    const news = `${headline}. ${status}`;
    if (spoken && news !== spoken) say(news);
    spoken = news;
    const seen = seenWords(state, now, language);
    element('seen').hidden = seen === null;
    setText('seen', seen ?? '');
    element('pin').hidden = !state.pin;
    setText('pin-code', state.pin ?? '');
    showDriver(shownDriver(state));
    showRating(asksForRating(state, now));
    showSteps(state);
  }

  /** A time of day in the reader's time zone. */
  function timeElement(at: number): HTMLElement {
    const time = document.createElement('time');
    time.dateTime = new Date(at).toISOString();
    time.title = utcText(at);
    time.dir = 'auto';
    time.textContent = clockTime.format(at);
    return time;
  }

  function showWhen(when: ReturnType<typeof wordsFor>['when']): void {
    const target = element('when');
    target.hidden = !when;
    if (!when) return;
    const { before, at, after } = when;
    if (target.textContent !== before + clockTime.format(at) + after) {
      target.replaceChildren(before, timeElement(at), after);
    }
  }

  function showDriver(driver: TrackState['driver']): void {
    element('driver').hidden = !driver;
    if (!driver) return;
    setText('plate', driver.plate);
    setText('vehicle', driver.vehicle);
    setText('first-name', driver.firstName);
    setText('rating', ratingIn(language.locale, driver.rating));
  }

  function showRating(isAsked: boolean): void {
    const form = element('rate');
    if (isAsked && form.hidden) say(element('rate-question').textContent);
    form.hidden = !isAsked;
  }

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
        word.textContent = language.text(`step.${status}`);
        item.append(word);
        if (at !== undefined) item.append(timeElement(at));
        return item;
      }),
    );
  }

  return {
    show,
    showConnection: (isGood: boolean): void => {
      const notice = element('connection');
      if (!isGood && notice.hidden) say(notice.textContent);
      notice.hidden = isGood;
    },
  };
}
