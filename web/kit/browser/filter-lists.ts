import { updatePage } from './update-page.ts';

/** The URL that the browser opens last. An answer to an earlier choice is ignored. */
let latest = '';

/** Applies the filters of a list (lists.tsx) as soon as one is chosen, without loading a new page. */
export function applyFilters(): void {
  document.addEventListener('change', ({ target }) => {
    const field = target as HTMLInputElement | HTMLSelectElement;
    const form = field.closest<HTMLFormElement>('form[data-filters]');
    // A search is applied with Enter. While a year is typed, the date field has years such as 0002.
    const isChosen = field.matches('select') || (field.type === 'date' && (!field.value || field.value >= '2000'));
    if (form && isChosen) void apply(form);
  });
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (!form.matches('form[data-filters]')) return;
    event.preventDefault();
    void apply(form);
  });
  addEventListener('popstate', () => {
    // Without a reload, the fields would keep the later choices.
    if (latest) location.reload();
  });
}

async function apply(form: HTMLFormElement): Promise<void> {
  const chosen = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value && typeof value === 'string') chosen.set(name, value);
  // A day is meant in the reader's time zone, in which the times of the list are shown.
  if (chosen.has('from') || chosen.has('to')) {
    chosen.set('zone', Intl.DateTimeFormat().resolvedOptions().timeZone);
  } else chosen.delete('zone');
  const url = new URL(form.action);
  url.search = chosen.toString();
  latest = url.href;
  const isLatest = () => latest === url.href;
  const isShown = await updatePage(url.href, isLatest).catch(() => false);
  if (!isLatest()) return;
  if (isShown) history.pushState(null, '', url);
  else location.assign(url);
}
