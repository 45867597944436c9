import { type Timeline, watchRide } from './demo-timeline.ts';
import type { EventBody, ListedOffer, Partner, ReceivedEvent, Receiver, Ride } from './partner.ts';

/** The ride that every demo plays: across a river of Gothenburg, whose streets are in dev/streets/. */
export const trip = {
  pickup: { lat: 57.6997, lng: 11.9523, address: 'Järntorget' },
  destination: { lat: 57.7074, lng: 11.9385, address: 'Lindholmen' },
  fare: 24.5,
  passenger: { name: 'Jane Doe', phone: '+12025550100' },
  notes: 'Two suitcases',
};

const statuses = ['driver_arriving', 'arrived', 'in_progress', 'completed'];

/**
 * Plays one test ride from request to completed, as a partner does, and resolves with the number of its events. Rejects
 * at the first violation of the contract. With `speed` 1, events are about 3 s apart.
 */
export async function playRide(
  timeline: Timeline,
  partner: Partner,
  receiver: Receiver,
  speed: number,
): Promise<number> {
  const { ride, next, watch, checkEnd } = await startRide(
    timeline,
    partner,
    receiver,
    Math.max(15_000, 15_000 / speed),
  );
  const expectedEvents = ['offer.received', ...statuses.map((status) => `ride.status ${status}`)];
  try {
    for (const expected of expectedEvents) {
      const { body } = await next(expected);
      if (body.offer) await acceptOnlyOffer(timeline, partner, ride);
    }
  } finally {
    await watch.stop();
  }
  await checkEnd();
  return expectedEvents.length;
}

async function acceptOnlyOffer(timeline: Timeline, partner: Partner, { rideId }: Ride): Promise<void> {
  const [offer] = (await partner.listOffers(rideId)).offers;
  if (!offer) throw new Error('the offer of the event is not listed');
  const { status } = await partner.acceptOffer(rideId, offer.offerId);
  timeline.entry(status, `you accept the offer of ${usd(offer.price)}`);
}

/** The number of offers for which the partner waits before it chooses one. */
const offersWanted = 3;

/**
 * Plays one live ride from request to completed with drivers who compete for it, and resolves with the number of its
 * events. Rejects at the first violation of the contract, and when an event takes longer than `eventTimeoutMs`.
 */
export async function playLiveRide(
  timeline: Timeline,
  partner: Partner,
  receiver: Receiver,
  eventTimeoutMs: number,
): Promise<number> {
  const { ride, next, watch, checkEnd } = await startRide(timeline, partner, receiver, eventTimeoutMs);
  let offers = 0;
  let agreedPrice: number | undefined;
  const nextLive = async (): Promise<ReceivedEvent> => {
    const received = await next();
    const { body } = received;
    if (body.testMode !== undefined) throw new Error('an event of a live ride has testMode');
    if (body.offer) offers += 1;
    agreedPrice = body.agreedPrice;
    return received;
  };
  try {
    while (offers < offersWanted) checkName(await nextLive(), 'offer.received');
    const chosen = await acceptCheapest(timeline, partner, ride);
    for (const status of statuses) {
      let received = await nextLive();
      // Skips offers, which drivers make until they are notified that the ride is gone.
      while (status === 'driver_arriving' && received.body.offer) received = await nextLive();
      checkName(received, `ride.status ${status}`);
      checkChosen(received, chosen);
    }
  } finally {
    await watch.stop();
  }
  await checkEnd((ended) => {
    if (ended.agreedPrice !== agreedPrice) throw new Error('the ride and its last event have different prices');
  });
  return offers + statuses.length;
}

async function acceptCheapest(timeline: Timeline, partner: Partner, { rideId }: Ride): Promise<ListedOffer> {
  const { offers } = await partner.listOffers(rideId);
  if (offers.length < offersWanted) throw new Error('an offer of an event is not listed');
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

/** Creates the ride, and shows and checks its events as they arrive. */
async function startRide(timeline: Timeline, partner: Partner, receiver: Receiver, eventTimeoutMs: number) {
  const ride = await partner.createRide(trip);
  const route = `${trip.pickup.address} to ${trip.destination.address}, ${ride.distanceKm} km straight`;
  timeline.entry(ride.status, `you request: ${route}, ${usd(ride.fare)}`);
  timeline.note(`Live map: ${ride.trackUrl}`);
  let previous: ReceivedEvent | undefined;
  return {
    ride,
    watch: watchRide(timeline, partner, ride.rideId, trip),
    async next(expected?: string): Promise<ReceivedEvent> {
      const received = await receiver.next(eventTimeoutMs);
      timeline.entry(received.body.status ?? 'bidding', describeEvent(received), received.receivedAt);
      if (expected !== undefined) checkName(received, expected);
      checkEvent(received, ride, previous);
      previous = received;
      return received;
    },
    async checkEnd(check: (ended: Ride) => void = () => {}): Promise<void> {
      const ended = await partner.retrieveRide(ride.rideId);
      if (ended.status !== 'completed') throw new Error('the ride was not completed');
      check(ended);
      if (receiver.waiting() > 0) throw new Error('more events arrived than the ride has');
    },
  };
}

const usd = (amount: number) => `$${amount.toFixed(2)}`;

/** Describes the event, and whether its signature is valid. */
function describeEvent({ isVerified, sequence, body }: ReceivedEvent): string {
  return `${describeBody(body)} (webhook ${sequence} ${isVerified ? '✓' : 'INVALID SIGNATURE'})`;
}

function describeBody({ event, status, offer, driver, fare, agreedPrice = fare }: EventBody): string {
  const { pickup, destination } = trip;
  const firstName = driver?.name.split(' ')[0];
  if (offer) return `${offer.driver.name} offers ${usd(offer.price)}, ${offer.etaMinutes} min away`;
  switch (status) {
    case 'driver_arriving':
      return `${firstName} is coming: ${driver?.vehicle}, ${driver?.plate}`;
    case 'arrived':
      return `${firstName} is at ${pickup.address}`;
    case 'in_progress':
      return `${firstName} drives to ${destination.address}`;
    case 'completed':
      return `at ${destination.address}, ${usd(agreedPrice ?? 0)} paid`;
    default:
      return [event, status].join(' ');
  }
}

/** An event's name, with its status if it has one. */
const nameOf = ({ event, status }: EventBody): string => (status ? `${event} ${status}` : event);

/** Throws if an event is not valid, or does not correctly follow `previous`. */
function checkEvent({ isVerified, sequence, body }: ReceivedEvent, ride: Ride, previous?: ReceivedEvent): void {
  const name = nameOf(body);
  const due = (previous?.sequence ?? 0) + 1;
  if (!isVerified) throw new Error(`the signature of ${name} is invalid`);
  if (sequence !== due) throw new Error(`event ${sequence} arrived, but event ${due} was due`);
  if (body.rideId !== ride.rideId) throw new Error(`${name} arrived for another ride`);
  if (previous && body.at <= previous.body.at) throw new Error(`${name} is not later than the event before it`);
}

function checkName({ isVerified, body }: ReceivedEvent, expected: string): void {
  if (!isVerified) throw new Error(`the signature of ${nameOf(body)} is invalid`);
  if (nameOf(body) !== expected) throw new Error(`${nameOf(body)} arrived, but ${expected} was due`);
}
