import { createPlaceMap } from '../kit/browser/place-map.ts';
import { showHints } from './browser/booking-hints.ts';
import { sendBookingInPlace } from './browser/booking-send.ts';
import { showPickupTime } from './browser/pickup-input.ts';
import { createPlaceField } from './browser/place-combobox.ts';

/** The booking form of the desk, and the form of a saved place. Both also work without this script. */
function start(root: ParentNode): void {
  for (const form of root.querySelectorAll<HTMLElement>('[data-booking]')) {
    const map = createPlaceMap(form);
    for (const box of form.querySelectorAll<HTMLElement>('[data-place-field]')) createPlaceField(box, form, map);
    showPickupTime(form);
    showHints(form);
    if (form instanceof HTMLFormElement) sendBookingInPlace(form, start);
  }
  const first = root.querySelector<HTMLInputElement>('.booking [autofocus]');
  // The browser would give the focus only later, and not to a form that replaces another one.
  first?.focus();
  // The default pickup is selected, so that typing replaces it.
  if (first?.closest('[data-place-field]')) first.select();
}

start(document);
