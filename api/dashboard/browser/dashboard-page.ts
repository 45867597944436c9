import { enhance } from './enhance.ts';

/** The script of every page of the dashboard. Every page also works without scripts. */

enhance(document);

// Reloads an old page that the Back button restored: its forms may be used, and sending one again would only repeat its
// answer.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

document.querySelector<HTMLElement>('[data-focus]')?.focus();
