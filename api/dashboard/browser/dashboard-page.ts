import { enhance } from './enhance.ts';

/** The script of every page of the dashboard. Every page also works without scripts. */

enhance(document);

// A page that the Back button brings back is shown as it was left: its forms can be sent again, and count once.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

document.querySelector<HTMLElement>('[data-focus]')?.focus();
