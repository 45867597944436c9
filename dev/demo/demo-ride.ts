import type { Partner, Ride } from './partner.ts';
import type { EventBody, ReceivedEvent, Receiver } from './receiver.ts';
import { watchRide } from './ride-watch.ts';
import type { Timeline } from './timeline.ts';

const trip = {
  pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
  destination: { lat: 40.7074, lng: -74.0113, address: 'Wall Street' },
  fare: 24.5,
  passenger: { name: 'Jane Doe', phone: '+12025550100' },
  notes: 'Two suitcases',
};
const expectedEvents = [
  'offer.received',
  'ride.status driver_arriving',
  'ride.status arrived',
  'ride.status in_progress',
  'ride.status completed',
];
const usd = (amount: number) => `$${amount.toFixed(2)}`;

/**
 * Takes one ride from request to completed, as a partner does, and resolves with the number of its events. Rejects at the
 * first violation of the contract. With `speed` 1, events come about 3 s apart.
 */
export async function playRide(timeline: Timeline, partner: Partner, receiver: Receiver, speed: number) {
  const eventTimeoutMs = Math.max(15_000, 15_000 / speed);
  const ride = await partner.createRide(trip);
  const { pickup, destination } = trip;
  const route = `${pickup.address} to ${destination.address}, ${ride.distanceKm} km`;
  timeline.entry(ride.status, `you ask: ${route}, ${usd(ride.fare)}`);
  timeline.note(`Live map: ${ride.trackUrl}`);

  const watch = watchRide(timeline, partner, ride.rideId, trip);
  try {
    let previous: ReceivedEvent | undefined;
    for (const expected of expectedEvents) {
      const received = await receiver.next(eventTimeoutMs);
      timeline.entry(received.body.status ?? 'bidding', described(received, ride), received.receivedAt);
      check(received, expected, ride, previous);
      if (received.body.offer) await acceptCheapest(timeline, partner, ride);
      previous = received;
    }
  } finally {
    await watch.stop();
  }

  const { status } = await partner.retrieveRide(ride.rideId);
  if (status !== 'completed') throw new Error('the ride was not completed');
  if (receiver.waiting() > 0) throw new Error('more events arrived than the ride has');
  return expectedEvents.length;
}

async function acceptCheapest(timeline: Timeline, partner: Partner, { rideId }: Ride): Promise<void> {
  const { offers } = await partner.listOffers(rideId);
  const [cheapest] = offers;
  if (!cheapest) throw new Error('the offer that was announced is not listed');
  const { status } = await partner.acceptOffer(rideId, cheapest.offerId);
  timeline.entry(status, `you accept the offer of ${usd(cheapest.price)}`);
}

/** The event in words, and whether its signature is valid. */
function described({ isVerified, sequence, body }: ReceivedEvent, ride: Ride): string {
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

function check({ isVerified, sequence, body }: ReceivedEvent, expected: string, ride: Ride, previous?: ReceivedEvent) {
  const name = body.status ? `${body.event} ${body.status}` : body.event;
  const place = (previous?.sequence ?? 0) + 1;
  if (!isVerified) throw new Error(`the signature of ${name} is wrong`);
  if (name !== expected) throw new Error(`${name} arrived where ${expected} was due`);
  if (sequence !== place) throw new Error(`event ${sequence} arrived where event ${place} was due`);
  if (body.rideId !== ride.rideId) throw new Error(`${name} arrived for another ride`);
  if (previous && body.at <= previous.body.at) throw new Error(`${name} is not later than the event before it`);
}
