import type { Ride } from './partner.ts';
import type { EventBody, ReceivedEvent } from './receiver.ts';

/** The ride that every demo plays. */
export const trip = {
  pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
  destination: { lat: 40.7074, lng: -74.0113, address: 'Wall Street' },
  fare: 24.5,
  passenger: { name: 'Jane Doe', phone: '+12025550100' },
  notes: 'Two suitcases',
};

export const usd = (amount: number) => `$${amount.toFixed(2)}`;

/** The event in words, and whether its signature is valid. */
export function described({ isVerified, sequence, body }: ReceivedEvent, ride: Ride): string {
  return `${inWords(body, ride)} (webhook ${sequence} ${isVerified ? '✓' : 'WITH A WRONG SIGNATURE'})`;
}

function inWords({ event, status, offer, driver, fare, agreedPrice = fare }: EventBody, { distanceKm }: Ride): string {
  const { pickup, destination } = trip;
  const firstName = driver?.name.split(' ')[0];
  if (offer) return `${offer.driver.name} offers ${usd(offer.price)}, ${offer.etaMinutes} min away`;
  switch (status) {
    case 'driver_arriving':
      return `${firstName} is coming: ${driver?.vehicle}, ${driver?.plate}`;
    case 'arrived':
      return `${firstName} is at ${pickup.address}`;
    case 'in_progress':
      return `${firstName} drives to ${destination.address}, ${distanceKm} km`;
    case 'completed':
      return `at ${destination.address}, ${usd(agreedPrice ?? 0)} paid`;
    default:
      return [event, status].join(' ');
  }
}

/** An event's name, with the status that it tells of. */
export const nameOf = ({ event, status }: EventBody): string => (status ? `${event} ${status}` : event);

/** Throws at the first thing that is wrong with an event that follows `previous`, whatever it tells. */
export function checkEvent({ isVerified, sequence, body }: ReceivedEvent, ride: Ride, previous?: ReceivedEvent): void {
  const name = nameOf(body);
  const place = (previous?.sequence ?? 0) + 1;
  if (!isVerified) throw new Error(`the signature of ${name} is wrong`);
  if (sequence !== place) throw new Error(`event ${sequence} arrived where event ${place} was due`);
  if (body.rideId !== ride.rideId) throw new Error(`${name} arrived for another ride`);
  if (previous && body.at <= previous.body.at) throw new Error(`${name} is not later than the event before it`);
}

/** Throws where another event than the expected one has come. */
export function checkName({ isVerified, body }: ReceivedEvent, expected: string): void {
  if (!isVerified) throw new Error(`the signature of ${nameOf(body)} is wrong`);
  if (nameOf(body) !== expected) throw new Error(`${nameOf(body)} arrived where ${expected} was due`);
}
