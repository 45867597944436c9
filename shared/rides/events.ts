import type { EventName, Offer, RideState } from './ride-types.ts';

/** The public fields of an offer (contract, section 2.3). */
export function publicOffer({ offerId, price, etaMinutes, driver }: Offer) {
  const { name, rating, plate, vehicle } = driver;
  return { offerId, price, etaMinutes, driver: { name, rating, plate, vehicle } };
}

/** What the partner wrote on the ride for itself (contract, "Beyond the contract"). */
export function partnersOwn({ reference, metadata }: Pick<RideState, 'reference' | 'metadata'>) {
  return { ...(reference !== undefined && { reference }), ...(metadata && { metadata }) };
}

interface NewEvent {
  event: EventName;
  /** Unix time in milliseconds. */
  at: number;
  /** The ride after the change. */
  ride: RideState;
  /** The offer that was received, for `offer.received`. */
  offer?: Offer;
  trackUrl: string;
}

/** The exact JSON text of an event's body (contract, section 6). Pure. */
export function eventBody(newEvent: NewEvent): string {
  const { event, ride, trackUrl, at } = newEvent;
  const added = { ...partnersOwn(ride), ...(ride.mode === 'test' && { testMode: true }) };
  if (event === 'offer.received') {
    const offer = newEvent.offer && publicOffer(newEvent.offer);
    const { _id: rideId, fare, offers } = ride;
    return JSON.stringify({ event, rideId, offer, offersCount: offers.length, fare, trackUrl, at, ...added });
  }
  return JSON.stringify({
    event,
    rideId: ride._id,
    status: ride.status,
    fare: ride.fare,
    driver: ride.driver ? eventDriver(ride.driver) : null,
    trackUrl,
    at,
    ...(ride.agreedPrice !== undefined && { agreedPrice: ride.agreedPrice }),
    ...(ride.cancelledBy && { cancelledBy: ride.cancelledBy }),
    ...added,
  });
}

function eventDriver({ name, phone, plate, vehicle }: NonNullable<RideState['driver']>) {
  return { name, phone, plate, vehicle };
}
