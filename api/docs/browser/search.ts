import MiniSearch, { type SearchResult } from 'minisearch';
import { searchOptions } from '../search-options.ts';

const mostResults = 8;

/** Searches all pages while the reader types. The first focus loads the index. */
export function startSearch(search: HTMLElement): void {
  const field = search.querySelector('input') as HTMLInputElement;
  const status = search.querySelector('p') as HTMLElement;
  const list = search.querySelector('ul') as HTMLUListElement;
  let loading: Promise<MiniSearch> | undefined;
  const index = () => {
    loading ??= loadIndex().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  async function show(): Promise<void> {
    const query = field.value.trim();
    const found =
      query === ''
        ? []
        : await index().then(
            (loaded) => loaded.search(query),
            () => null,
          );
    if (field.value.trim() !== query) return;
    list.replaceChildren(...(found ?? []).slice(0, mostResults).map(resultItem));
    if (query === '') status.textContent = '';
    else if (found === null) status.textContent = 'The search is not available now.';
    else
      status.textContent =
        found.length === 0 ? `Nothing found for “${query}”.` : `${Math.min(found.length, mostResults)} results`;
    search.classList.toggle('is-open', query !== '');
  }

  const close = () => {
    field.value = '';
    void show();
  };
  field.addEventListener('focus', () => void index().catch(() => {}));
  field.addEventListener('input', () => void show());
  search.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const at = links.findIndex((link) => link === document.activeElement);
    if (event.key === 'Escape') {
      close();
      field.focus();
    } else if (event.key === 'Enter' && event.target === field) links[0]?.click();
    else if (event.key === 'ArrowDown') links[at + 1]?.focus();
    else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', ({ target }) => {
    if (!search.contains(target as Node)) search.classList.remove('is-open');
  });
  // The usual shortcut of documentation sites.
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, [contenteditable]');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    field.focus();
  });
  search.hidden = false;
}

async function loadIndex(): Promise<MiniSearch> {
  const answer = await fetch('/docs/search.json');
  if (!answer.ok) throw new Error(`the index answered ${answer.status}`);
  return MiniSearch.loadJSON(await answer.text(), searchOptions);
}

function resultItem({ id, page, section }: SearchResult): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = id;
  const title = document.createElement('strong');
  title.textContent = section || page;
  link.append(title);
  if (section) {
    const where = document.createElement('span');
    where.className = 'quiet';
    where.textContent = ` ${page}`;
    link.append(where);
  }
  item.append(link);
  return item;
}
