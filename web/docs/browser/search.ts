import MiniSearch, { type SearchResult } from 'minisearch';
import { searchOptions } from '../search-options.ts';

const mostResults = 8;

/** Searches all pages while the reader types. The first focus loads the index. */
export function startSearch(search: HTMLElement): void {
  const field = search.querySelector('input') as HTMLInputElement;
  const results = search.querySelector('.options') as HTMLElement;
  const status = search.querySelector('[role=status]') as HTMLElement;
  const list = search.querySelector('[role=listbox]') as HTMLElement;
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-autocomplete', 'list');
  field.setAttribute('aria-controls', list.id);
  field.setAttribute('aria-expanded', 'false');
  let active: HTMLAnchorElement | undefined;
  let loading: Promise<MiniSearch> | undefined;
  const index = () => {
    loading ??= loadIndex(search.dataset.index as string).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const open = (isOpen: boolean) => {
    results.hidden = !isOpen;
    field.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) activate(undefined);
  };

  const activate = (option: HTMLAnchorElement | undefined) => {
    active?.setAttribute('aria-selected', 'false');
    active = option;
    active?.setAttribute('aria-selected', 'true');
    active?.scrollIntoView({ block: 'nearest' });
    if (active) field.setAttribute('aria-activedescendant', active.id);
    else field.removeAttribute('aria-activedescendant');
  };

  async function show(): Promise<void> {
    const query = field.value.trim();
    // The index has no words of one letter, so nothing would be found.
    if (query.length < 2) return open(false);
    const found = await index().then(
      (loaded) => loaded.search(query),
      () => undefined,
    );
    // The reader has typed on in the meantime.
    if (field.value.trim() !== query) return;
    const shown = (found ?? []).slice(0, mostResults);
    status.textContent = found
      ? countText(shown.length, query)
      : 'The search did not load. Change the text to try again.';
    open(true);
    list.replaceChildren(...shown.map(optionOf));
    activate(list.querySelector('a') ?? undefined);
  }

  field.addEventListener('focus', () => {
    void index().catch(() => {});
    void show();
  });
  field.addEventListener('input', () => void show());
  field.addEventListener('keydown', (event) => {
    const options = [...list.querySelectorAll('a')];
    const at = active ? options.indexOf(active) : -1;
    if (event.key === 'Escape') {
      field.value = '';
      open(false);
    } else if (results.hidden) return;
    else if (event.key === 'Enter') active?.click();
    else if (event.key === 'ArrowDown') activate(options[(at + 1) % options.length]);
    else if (event.key === 'ArrowUp') activate(options.at(at <= 0 ? -1 : at - 1));
    else return;
    event.preventDefault();
  });
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (!search.contains(relatedTarget as Node | null)) open(false);
  });
  list.addEventListener('click', () => {
    // A result can be a section of this page: then no other page is loaded.
    field.value = '';
    field.blur();
    open(false);
  });
  // The usual shortcut of documentation sites.
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, [contenteditable]');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    field.focus();
  });
}

async function loadIndex(url: string): Promise<MiniSearch> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the index answered ${answer.status}`);
  return MiniSearch.loadJSON(await answer.text(), searchOptions);
}

function countText(count: number, query: string): string {
  if (count === 0) return `Nothing found for “${query}”.`;
  if (count === mostResults) return `The ${count} best results`;
  return count === 1 ? '1 result' : `${count} results`;
}

function optionOf({ id, page, section }: SearchResult, index: number): HTMLAnchorElement {
  const option = document.createElement('a');
  option.id = `search-result-${index}`;
  option.href = id;
  // The field keeps the focus and moves the selection.
  option.tabIndex = -1;
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  const title = document.createElement('strong');
  title.textContent = section || page;
  option.append(title);
  const place = [...(section ? [page] : []), ...(id.startsWith('/docs/drivers') ? ['For drivers'] : [])];
  if (place.length > 0) {
    const where = document.createElement('span');
    where.className = 'sub';
    where.textContent = place.join(' · ');
    option.append(' ', where);
  }
  return option;
}
