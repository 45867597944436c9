import { enhance } from './enhance.ts';

/** What every page of the dashboard does with scripts: it works without them too. */

enhance(document);

// A page that the Back button brings back is shown as it was left: its forms can be sent again, and count once.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

document.querySelector<HTMLElement>('[data-focus]')?.focus();
