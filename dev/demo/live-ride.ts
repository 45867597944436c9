import { checkEvent, checkName, described, trip, usd } from './events.ts';
import type { ListedOffer, Partner, Ride } from './partner.ts';
import type { ReceivedEvent, Receiver } from './receiver.ts';
import { watchRide } from './ride-watch.ts';
import type { Timeline } from './timeline.ts';

/** The partner chooses among so many. */
const offersWanted = 3;
const steps = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

/**
 * Takes one live ride from request to completed among drivers who compete for it, and resolves with the number of its
 * events. Rejects at the first violation of the contract, and where an event takes longer than `eventTimeoutMs`.
 */
export async function playLiveRide(timeline: Timeline, partner: Partner, receiver: Receiver, eventTimeoutMs: number) {
  const ride = await partner.createRide(trip);
  const { pickup, destination } = trip;
  const route = `${pickup.address} to ${destination.address}, ${ride.distanceKm} km`;
  timeline.entry(ride.status, `you ask: ${route}, ${usd(ride.fare)}`);
  timeline.note(`Live map: ${ride.trackUrl}`);

  const watch = watchRide(timeline, partner, ride.rideId, trip);
  let previous: ReceivedEvent | undefined;
  let offers = 0;
  const next = async (): Promise<ReceivedEvent> => {
    const received = await receiver.next(eventTimeoutMs);
    timeline.entry(received.body.status ?? 'bidding', described(received, ride), received.receivedAt);
    checkEvent(received, ride, previous);
    if (received.body.testMode !== undefined) throw new Error('an event of a live ride says testMode');
    if (received.body.offer) offers += 1;
    previous = received;
    return received;
  };
  try {
    while (offers < offersWanted) checkName(await next(), 'offer.received');
    const chosen = await acceptCheapest(timeline, partner, ride);
    for (const status of steps) {
      let received = await next();
      // Drivers go on offering until they hear that the ride is gone.
      while (status === 'driver_arriving' && received.body.offer) received = await next();
      checkName(received, `ride.status ${status}`);
      checkChosen(received, chosen);
    }
  } finally {
    await watch.stop();
  }

  const { status, agreedPrice } = await partner.retrieveRide(ride.rideId);
  if (status !== 'completed') throw new Error('the ride was not completed');
  if (agreedPrice !== previous?.body.agreedPrice) throw new Error('the ride has another price than its last event');
  if (receiver.waiting() > 0) throw new Error('more events arrived than the ride has');
  return offers + steps.length;
}

async function acceptCheapest(timeline: Timeline, partner: Partner, { rideId }: Ride): Promise<ListedOffer> {
  const { offers } = await partner.listOffers(rideId);
  if (offers.length < offersWanted) throw new Error('an offer that was announced is not listed');
  const [cheapest] = offers.toSorted((a, b) => a.price - b.price || a.etaMinutes - b.etaMinutes) as [ListedOffer];
  const { status } = await partner.acceptOffer(rideId, cheapest.offerId);
  const who = cheapest.driver.name.split(' ')[0];
  timeline.entry(status, `you accept ${who}'s offer of ${usd(cheapest.price)}, the best of ${offers.length}`);
  return cheapest;
}

function checkChosen({ body }: ReceivedEvent, { price, driver }: ListedOffer): void {
  const { plate, name } = driver;
  const isChosen = body.driver?.plate === plate && body.driver.name === name;
  if (!isChosen) throw new Error(`ride.status ${body.status} names another driver than the chosen one`);
  if (body.agreedPrice !== price) throw new Error(`ride.status ${body.status} has another price than the offer`);
}
