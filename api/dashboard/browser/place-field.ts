import { coordinatesAsText, coordinatesIn } from '../desk/coordinates.ts';
import type { PlaceMap } from './place-map.ts';
import { askDesk, optionsFor, type PlaceOption, pointOfSaved, type SearchAnswer, toOptions } from './place-options.ts';

/** A search starts when nothing was typed for this long. */
const restMs = 350;
const leastTyped = 3;

/**
 * Turns a place field into a combobox: the list has the saved places, the addresses that the service finds, and the
 * map. While a person types, the first place is active; Enter and Tab choose the active one.
 */
export function createPlaceField(box: HTMLElement, form: HTMLElement, map: PlaceMap): void {
  const input = box.querySelector<HTMLInputElement>('input:not([type="hidden"])');
  const hidden = box.querySelector<HTMLInputElement>('input[type="hidden"]');
  if (!input || !hidden) return;
  const canSearch = form.dataset.search !== undefined;
  const { popup, list, note, said } = createPopup(input);
  let options: PlaceOption[] = [];
  let active = -1;
  let found: PlaceOption[] = [];
  let problem = '';
  let timer = 0;
  let turn = 0;

  input.removeAttribute('list');
  if (box.dataset.about) {
    const described = input.getAttribute('aria-describedby') ?? '';
    input.setAttribute('aria-describedby', `${described} ${box.dataset.about}`.trim());
  }
  const isOpen = () => !popup.hidden;
  const isShown = () => document.activeElement === input;

  function open(typed: string, isTyping: boolean): void {
    options = optionsFor(typed, found);
    list.replaceChildren(...options.map(toElement));
    note.textContent = problem || (found.length > 0 ? '© OpenStreetMap contributors' : '');
    popup.hidden = false;
    input?.setAttribute('aria-expanded', 'true');
    const places = options.length - 1;
    activate(isTyping && places > 0 ? 0 : -1);
    said.textContent = places === 0 ? 'No places in the list' : `${places} ${places === 1 ? 'place' : 'places'}`;
  }

  function close(): void {
    popup.hidden = true;
    input?.setAttribute('aria-expanded', 'false');
    activate(-1);
  }

  function toElement(option: PlaceOption, index: number): HTMLElement {
    const element = document.createElement('li');
    element.id = `${list.id}-${index}`;
    element.setAttribute('role', 'option');
    element.className = option.isMap ? 'on-map' : '';
    element.append(option.text);
    if (option.detail) {
      const detail = document.createElement('span');
      detail.textContent = option.detail;
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
      input?.setAttribute('aria-activedescendant', element.id);
      element.scrollIntoView({ block: 'nearest' });
    } else input?.removeAttribute('aria-activedescendant');
  }

  function set(text: string, chosen = ''): void {
    if (!input || !hidden) return;
    input.value = text;
    hidden.value = chosen;
    close();
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
      input?.focus();
    });
  }

  /** The field's own point, or the first saved place. */
  function startPoint(): { lat: number; lng: number } | null {
    const { value } = input as HTMLInputElement;
    const own = hidden?.value.endsWith(` ${value}`) ? hidden.value.split(' ')[0] : pointOfSaved(value);
    return coordinatesIn(value) ?? coordinatesIn(own ?? pointOfSaved() ?? '');
  }

  async function search(typed: string): Promise<void> {
    turn += 1;
    const own = turn;
    const answer = await askDesk<SearchAnswer>('search', { q: typed });
    if (own !== turn || input?.value !== typed) return;
    found = toOptions(answer ?? {});
    problem = answer ? (answer.problem ?? '') : 'The address search does not answer.';
    if (isShown()) open(typed, true);
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    turn += 1;
    found = [];
    problem = '';
    if (hidden.value) hidden.value = '';
    const typed = input.value;
    if (coordinatesIn(typed)) return close();
    open(typed, typed.trim() !== '');
    if (canSearch && typed.trim().length >= leastTyped) timer = setTimeout(() => search(typed), restMs);
  });
  input.addEventListener('click', () => {
    if (!isOpen()) open('', false);
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      if (!isOpen()) open(found.length > 0 ? input.value : '', false);
      const count = options.length;
      activate(key === 'ArrowDown' ? (active + 1) % count : (active <= 0 ? count : active) - 1);
    } else if (key === 'Escape' && isOpen()) {
      event.preventDefault();
      close();
    } else if ((key === 'Enter' || key === 'Tab') && isOpen()) {
      const option = options[active];
      // Tab leaves the field, so it does not open the map.
      if (!option || (option.isMap && key === 'Tab')) return close();
      if (key === 'Enter') event.preventDefault();
      choose(option);
    }
  });
}

/** The list below a field. */
function createPopup(input: HTMLInputElement) {
  const popup = document.createElement('div');
  const list = document.createElement('ul');
  const note = document.createElement('p');
  const said = document.createElement('p');
  popup.className = 'place-popup';
  popup.hidden = true;
  list.id = `${input.id}-options`;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Places');
  note.className = 'hint';
  said.className = 'spoken';
  said.setAttribute('role', 'status');
  popup.append(list, note);
  input.after(popup, said);
  for (const [name, value] of [
    ['role', 'combobox'],
    ['aria-autocomplete', 'list'],
    ['aria-expanded', 'false'],
    ['aria-controls', list.id],
  ] as const)
    input.setAttribute(name, value);
  return { popup, list, note, said };
}
