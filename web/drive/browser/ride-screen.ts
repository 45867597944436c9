import type { ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import { mapAddress, nextStop, placeWords, rideWords } from '../drive-words.ts';
import { element, setAction, setText, text, texts } from './elements.ts';
import { showMessages } from './reachable.ts';

/** Shows the driver's ride: the next stop, the passenger, and the next step. */
export function showRide(ride: ShownRide): void {
  const words = rideWords[ride.status];
  if (!words) return;
  const { status, destination, passenger } = ride;
  const notes = texts.notesOf(ride);
  const eyebrow = [
    text(status === 'driver_arriving' ? 'chosen' : 'ride'),
    texts.pickupWords(ride),
    texts.etaWords(ride),
  ];
  setText(element('ride-eyebrow'), eyebrow.filter(Boolean).join(' · '));
  setText(element('ride-title'), text(words.title));
  const step = element('step');
  setAction(step, element('step-text'), text(`step.${words.step}`));
  step.toggleAttribute('data-hold', words.isHeld === true);
  element('step-hint').hidden = !words.isHeld;

  const isUnderWay = status === 'in_progress';
  setText(element('to-label'), text(isUnderWay ? 'destination' : 'pickup'));
  setText(element('to-text'), placeWords(isUnderWay ? destination : ride.pickup));
  element('next').hidden = isUnderWay;
  setText(element('next-text'), placeWords(destination));
  const maps = element<HTMLAnchorElement>('maps');
  maps.hidden = false;
  maps.href = mapAddress(nextStop(ride), navigator.userAgent);
  setText(maps, text(status === 'arrived' ? 'maps.destination' : 'maps'));

  setText(element('ride-price'), texts.money(ride.agreedPrice));
  setText(element('ride-distance'), texts.kilometers(ride.distanceKm));
  setText(element('ride-passengers'), ride.passengerCount.toLocaleString(texts.locale));
  element('notes').hidden = !notes;
  setText(element('notes-text'), notes);
  showPassenger(passenger);
  showMessages(ride);
}

function showPassenger({ name, phone = '', callUrl }: NonNullable<ShownRide['passenger']> = {}): void {
  element('passenger').hidden = !name && !phone;
  setText(element('passenger-name'), name || text('passenger'));
  setText(element('passenger-phone'), phone);
  const link = element<HTMLAnchorElement>('call');
  link.hidden = !callUrl;
  link.href = callUrl ?? '';
}

/** Removes all passenger data from the page after the ride. */
export function forgetRide(): void {
  for (const id of ['to-text', 'next-text', 'passenger-name', 'passenger-phone', 'notes-text', 'messages-list']) {
    element(id).textContent = '';
  }
  for (const id of ['maps', 'call']) {
    element(id).hidden = true;
    element(id).removeAttribute('href');
  }
}
