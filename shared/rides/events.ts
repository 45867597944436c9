import type { Shape } from '../base/json-schema.ts';
import type { EventBody } from './event-schemas.ts';
import type { offerSchema } from './public-schemas.ts';
import type { EventName, Offer, RideEvent, RideState } from './ride-types.ts';

/** The public fields of an offer (contract, section 2.3). */
export function publicOffer({ offerId, price, etaMinutes, driver }: Offer): Shape<typeof offerSchema> {
  const { name, rating, plate, vehicle } = driver;
  return { offerId, price, etaMinutes, driver: { name, rating, plate, vehicle } };
}

/** What the partner wrote on the ride for itself (contract, "Beyond the contract"). */
export function partnersOwn({ reference, metadata }: Pick<RideState, 'reference' | 'metadata'>) {
  return { ...(reference !== undefined && { reference }), ...(metadata && { metadata }) };
}

/** The time of an event, which its body says; `at` is its position in the feed. */
export const timeOf = ({ at, clockAt }: Pick<RideEvent, 'at' | 'clockAt'>): Date => clockAt ?? at;

interface NewEvent {
  event: EventName;
  /** Unix time in milliseconds. */
  at: number;
  /** The ride after the change. */
  ride: RideState;
  /** The offer that was received: always there for `offer.received`. */
  offer?: Offer;
  trackUrl: string;
}

/** The exact JSON text of an event's body (contract, section 6). Pure. */
export function eventBody(newEvent: NewEvent): string {
  return JSON.stringify(newEvent.event === 'offer.received' ? offerReceived(newEvent) : rideStatus(newEvent));
}

function offerReceived({ ride, offer, trackUrl, at }: NewEvent): EventBody<'offer.received'> {
  return {
    event: 'offer.received',
    rideId: ride._id,
    offer: publicOffer(offer as Offer),
    offersCount: ride.offers.length,
    fare: ride.fare,
    trackUrl,
    at,
    ...partnersOwn(ride),
    ...testMode(ride),
  };
}

function rideStatus({ ride, trackUrl, at }: NewEvent): EventBody<'ride.status'> {
  return {
    event: 'ride.status',
    rideId: ride._id,
    // No event says that a ride is bidding: that is how it begins.
    status: ride.status as Exclude<RideState['status'], 'bidding'>,
    fare: ride.fare,
    driver: ride.driver ? eventDriver(ride.driver) : null,
    trackUrl,
    at,
    ...(ride.agreedPrice !== undefined && { agreedPrice: ride.agreedPrice }),
    ...(ride.cancelledBy && { cancelledBy: ride.cancelledBy }),
    ...partnersOwn(ride),
    ...testMode(ride),
  };
}

const testMode = ({ mode }: RideState) => (mode === 'test' ? { testMode: true as const } : {});

function eventDriver({ name, phone, plate, vehicle }: NonNullable<RideState['driver']>) {
  return { name, phone, plate, vehicle };
}
