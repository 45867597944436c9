import { enhance } from './enhance.ts';
import { applyFilters } from './filter-lists.ts';
import { showLocalTimes } from './local-times.ts';
import { keepTabsInPlace } from './section-tabs.ts';

/** The script of every page of the dashboard. Every page also works without scripts. */

enhance(document);
keepTabsInPlace();
applyFilters();
setInterval(() => showLocalTimes(document), 10_000);

// Reloads an old page that the Back button restored: its forms may be used, and sending one again would only repeat its
// answer.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

document.querySelector<HTMLElement>('[data-focus]')?.focus();
