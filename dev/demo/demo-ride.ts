import { checkEvent, checkName, described, trip, usd } from './events.ts';
import type { Partner, Ride } from './partner.ts';
import type { ReceivedEvent, Receiver } from './receiver.ts';
import { watchRide } from './ride-watch.ts';
import type { Timeline } from './timeline.ts';

const expectedEvents = [
  'offer.received',
  'ride.status driver_arriving',
  'ride.status arrived',
  'ride.status in_progress',
  'ride.status completed',
];

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
      checkName(received, expected);
      checkEvent(received, ride, previous);
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
