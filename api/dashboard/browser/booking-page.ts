import { showFareHint } from './fare-hint.ts';
import { showPickupTime } from './pickup-time.ts';
import { createPlaceField } from './place-field.ts';
import { createPlaceMap } from './place-map.ts';

/** The booking form of the desk, and the form of a saved place. Both also work without this script. */
for (const form of document.querySelectorAll<HTMLElement>('[data-booking]')) {
  const map = createPlaceMap(form);
  for (const box of form.querySelectorAll<HTMLElement>('[data-place-field]')) createPlaceField(box, form, map);
  showPickupTime(form);
  showFareHint(form);
}

// The default pickup is selected, so that typing replaces it. The browser would give the focus only later.
const first = document.querySelector<HTMLInputElement>('[data-place-field] [autofocus]');
first?.focus();
first?.select();
