import type { ShownRide } from '../../drivers/fields.ts';
import { callAddress, kilometers, money, notesOf, rideWords } from '../words.ts';
import { element, mapAddress, setAction, setText } from './elements.ts';

/** Shows the driver's ride: the next stop, the passenger, and the next step. */
export function showRide(ride: ShownRide): void {
  const words = rideWords[ride.status];
  if (!words) return;
  const { status, pickup, destination, passenger } = ride;
  const notes = notesOf(ride);
  setText(element('ride-eyebrow'), status === 'driver_arriving' ? 'You were chosen' : 'Your ride');
  setText(element('ride-title'), words.title);
  setAction(element('step'), words.button);

  const isUnderWay = status === 'in_progress';
  setText(element('to-label'), isUnderWay ? 'Destination' : 'Pickup');
  showPlace('to', isUnderWay ? destination : pickup);
  element('next').hidden = isUnderWay;
  showPlace('next', destination);

  setText(element('ride-price'), money(ride.agreedPrice));
  setText(element('ride-distance'), kilometers(ride.distanceKm));
  setText(element('ride-passengers'), String(ride.passengerCount));
  element('notes').hidden = !notes;
  setText(element('notes-text'), notes);
  showPassenger(passenger);
}

function showPlace(id: 'to' | 'next', { lat, lng, address }: ShownRide['pickup']): void {
  setText(element(`${id}-text`), address || `${lat.toFixed(5)}, ${lng.toFixed(5)}`);
  element<HTMLAnchorElement>(`${id}-map`).href = mapAddress({ lat, lng });
}

function showPassenger({ name, phone }: NonNullable<ShownRide['passenger']> = {}): void {
  element('passenger').hidden = !name && !phone;
  setText(element('passenger-name'), name || 'Passenger');
  const link = element<HTMLAnchorElement>('passenger-phone');
  const address = callAddress(phone ?? '');
  link.hidden = !address;
  link.href = address ?? '';
  setText(link, `Call ${phone}`);
}

/** Removes all passenger data from the page after the ride. */
export function forgetRide(): void {
  for (const id of ['to-text', 'next-text', 'passenger-name', 'passenger-phone', 'notes-text']) {
    element(id).textContent = '';
  }
  for (const id of ['to-map', 'next-map', 'passenger-phone']) element(id).removeAttribute('href');
}
