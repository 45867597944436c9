import { isolated } from '../../../shared/base/shown-text.ts';
import type { PlaceMap } from '../../kit/browser/place-map.ts';
import { coordinatesAsText } from '../../kit/ride-words.ts';
import { coordinatesIn } from '../coordinates.ts';
import {
  askDesk,
  isPlace,
  isSameOption,
  optionsFor,
  type PlaceOption,
  pointOfSaved,
  type SearchAnswer,
  toOptions,
} from './place-options.ts';

/** A search starts when nothing was typed for this long. */
const restMs = 350;
const leastTyped = 3;

/**
 * Turns a place field into a combobox: the list has the saved places, the addresses that the service finds, and the
 * map. While a person types, the first place is active; after an arrow key, the active one stays active, also when the
 * search answers. Enter and Tab choose the active one. A text that is no place yet is marked, and Enter does not send it.
 */
export function createPlaceField(box: HTMLElement, form: HTMLElement, map: PlaceMap): void {
  const part = <Kind extends HTMLElement = HTMLElement>(selector: string) => box.querySelector(selector) as Kind;
  const input = part<HTMLInputElement>('input:not([type="hidden"])');
  const hidden = part<HTMLInputElement>('input[type="hidden"]');
  const [popup, list, note] = [part('.options'), part('.options > ul'), part('.options > p')];
  const [mark, said] = [part('.place-mark'), part('.spoken')];
  const canSearch = form.dataset.search !== undefined;
  const hasFault = input.ariaInvalid === 'true';
  let options: PlaceOption[] = [];
  let active = -1;
  let found: PlaceOption[] = [];
  let problem = '';
  let timer = 0;
  let isTyping = false;
  /** The text whose addresses are found, or are being searched. */
  let searched = '';

  input.removeAttribute('list');
  // As attributes: Firefox before 119 does not know the properties.
  list.setAttribute('role', 'listbox');
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-controls', list.id);
  const described = [input.getAttribute('aria-describedby'), mark.id, box.dataset.about];
  input.setAttribute('aria-describedby', described.filter(Boolean).join(' '));
  const isOpen = () => !popup.hidden;
  const isShown = () => document.activeElement === input;

  /** True for a text that is no place: no saved place, no coordinates, and no chosen address. */
  function needsChoice(): boolean {
    const typed = input.value.trim();
    return typed !== '' && !isPlace(typed, hidden.value);
  }

  /** Marks the field if its text is no place. A fault that the service has found is shown already. */
  function review(): void {
    const words = needsChoice() ? markWords(found.length) : '';
    said.textContent = words && `${input.labels?.[0]?.textContent}: ${words}`;
    if (hasFault) return;
    mark.textContent = words;
    if (words) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  }

  function open(typed: string): void {
    const kept = options[active];
    options = optionsFor(typed, found);
    list.replaceChildren(...options.map(toElement));
    note.textContent = problem || (found.length > 0 ? '© OpenStreetMap contributors' : '');
    popup.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    const places = options.length - 1;
    activate(isTyping ? Math.min(0, places - 1) : options.findIndex((option) => isSameOption(option, kept)));
    said.textContent = places === 0 ? 'No places in the list' : `${places} ${places === 1 ? 'place' : 'places'}`;
  }

  function close(): void {
    popup.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    isTyping = false;
    activate(-1);
  }

  function toElement(option: PlaceOption, index: number): HTMLElement {
    const element = document.createElement('li');
    element.id = `${list.id}-${index}`;
    element.setAttribute('role', 'option');
    element.className = option.isMap ? 'on-map' : '';
    element.append(isolated(option.text));
    if (option.detail) {
      const detail = document.createElement('span');
      detail.className = 'hint';
      detail.textContent = isolated(option.detail);
      element.append(' ', detail);
    }
    // The field keeps the focus.
    element.addEventListener('pointerdown', (event) => event.preventDefault());
    element.addEventListener('click', () => choose(option));
    return element;
  }

  function activate(index: number): void {
    active = index;
    for (const [at, element] of [...list.children].entries()) element.ariaSelected = String(at === index);
    const element = list.children[index];
    if (element) {
      input.setAttribute('aria-activedescendant', element.id);
      element.scrollIntoView({ block: 'nearest' });
    } else input.removeAttribute('aria-activedescendant');
  }

  function set(text: string, chosen = ''): void {
    input.value = text;
    hidden.value = chosen;
    close();
    review();
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }

  function choose(option: PlaceOption): void {
    if (!option.isMap) {
      set(option.text, option.chosen);
      return;
    }
    close();
    void map.choose(startPoint()).then((point) => {
      if (point) set(coordinatesAsText(point));
      input.focus();
    });
  }

  /** The field's own point, or the first saved place. */
  function startPoint(): { lat: number; lng: number } | null {
    const { value } = input;
    const own = hidden.value.endsWith(` ${value}`) ? hidden.value.split(' ')[0] : '';
    const points = [value, own, pointOfSaved(value), pointOfSaved()];
    return points.map((point = '') => coordinatesIn(point)).find((point) => point !== null) ?? null;
  }

  async function search(): Promise<void> {
    const typed = input.value;
    if (!canSearch || typed.trim().length < leastTyped || typed === searched) return;
    searched = typed;
    const answer = await askDesk<SearchAnswer>('search', { q: typed });
    if (searched !== typed || input.value !== typed) return;
    found = toOptions(answer ?? {});
    problem = answer ? (answer.problem ?? '') : 'The address search does not answer.';
    if (problem) searched = '';
    if (!isShown()) review();
    else if (isOpen() || needsChoice()) open(typed);
  }

  /** Offers the places for a text that is no place yet. */
  function offer(): void {
    open(input.value);
    void search();
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    searched = '';
    found = [];
    problem = '';
    if (hidden.value) hidden.value = '';
    const typed = input.value;
    if (coordinatesIn(typed)) return close();
    isTyping = typed.trim() !== '';
    open(typed);
    timer = setTimeout(search, restMs);
  });
  input.addEventListener('focus', () => {
    if (needsChoice()) offer();
  });
  input.addEventListener('click', () => {
    if (!isOpen()) open('');
  });
  input.addEventListener('blur', () => {
    close();
    review();
  });
  input.addEventListener('keydown', (event) => {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      isTyping = false;
      if (needsChoice()) offer();
      else if (!isOpen()) open(found.length > 0 ? input.value : '');
      const count = options.length;
      activate(key === 'ArrowDown' ? (active + 1) % count : (active <= 0 ? count : active) - 1);
    } else if (key === 'Escape' && isOpen()) {
      event.preventDefault();
      // An answer must not open the list again.
      clearTimeout(timer);
      searched = '';
      close();
    } else if (key === 'Enter' || key === 'Tab') {
      const option = isOpen() ? options[active] : undefined;
      // Tab leaves the field, so it does not open the map.
      if (!option || (option.isMap && key === 'Tab')) {
        if (key === 'Tab' || !needsChoice()) return close();
        event.preventDefault();
        offer();
        review();
        return;
      }
      if (key === 'Enter') event.preventDefault();
      choose(option);
    }
  });
}

const markWords = (found: number): string => {
  if (found === 0) return 'Choose a place from the list';
  return found === 1 ? '1 address found: choose it' : `${found} addresses found: choose one`;
};
