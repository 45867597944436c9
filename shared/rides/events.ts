import type { Shape } from '../base/json-schema.ts';
import { pick } from '../base/pick.ts';
import type { EventName, SentEvent } from '../base/terms.ts';
import type { EventBody } from './event-schemas.ts';
import { type FieldIn, fieldsIn, type GivenFields, shownFields } from './fields.ts';
import { shownOpening } from './opening.ts';
import type { offerSchema } from './public-schemas.ts';
import type { Offer, Ride, RideEvent, RideState, RideStatus } from './ride-types.ts';

/** The public fields of an offer (contract, section 2.3). */
export function publicOffer({ offerId, price, etaMinutes, driver }: Offer): Shape<typeof offerSchema> {
  const { name, rating, plate, vehicle } = driver;
  return { offerId, price, etaMinutes, driver: { name, rating, plate, vehicle } };
}

/** The optional fields that a partner sees in a place, in the order that clients have always seen. */
export function partnerFields<P extends 'creation' | 'ride' | 'event'>(
  place: P,
  ride: Pick<RideState, 'mode' | 'pickupAt' | 'biddingOpensAt' | 'openedAt' | 'replaces'> &
    Pick<GivenFields, FieldIn<P>>,
) {
  const opensAt = shownOpening(ride);
  return {
    ...(ride.pickupAt && { pickupAt: ride.pickupAt.getTime() }),
    ...(opensAt && { biddingOpensAt: opensAt.getTime() }),
    ...(ride.replaces && { replaces: ride.replaces }),
    ...shownFields(ride, fieldsIn(place)),
    ...(ride.mode === 'test' && { testMode: true as const }),
  };
}

/** The URL of the live map (contract, section 2.1); that of an erased ride shows the page for expired links. Pure. */
export const trackUrl = (trackBaseUrl: string, { trackToken = 'erased' }: Pick<Ride, 'trackToken'>): string =>
  `${trackBaseUrl}/${trackToken}`;

/**
 * The status in the body of a `ride.status` event; undefined for other events and for an erased body. Pure. Does not
 * parse: this runs for each delivery, and `status` comes before all fields whose text a partner chooses.
 */
export const statusIn = (event: SentEvent, body = ''): RideStatus | undefined =>
  event === 'ride.status' ? (/"status":"(\w+)"/.exec(body)?.[1] as RideStatus | undefined) : undefined;

/** The time of an event, as its body shows it. The field `at` is its feed time, which may be later. */
export const timeOf = ({ at, clockAt }: Pick<RideEvent, 'at' | 'clockAt'>): Date => clockAt ?? at;

/** The request of the partner that caused an event. Partners must not see the ids of drivers' requests. */
export const partnersRequestId = ({ by, requestId }: Pick<RideEvent, 'by' | 'requestId'>): string | undefined =>
  by === 'partner' || by === 'dashboard' ? requestId : undefined;

interface NewEvent {
  event: EventName;
  eventId: string;
  /** The number of the event within its ride. */
  sequence: number;
  /** Unix time in milliseconds. */
  at: number;
  /** The ride after the change. */
  ride: RideState;
  /** The offer that was received. Required for `offer.received`. */
  offer?: Offer;
  trackUrl: string;
}

/** The exact JSON text of an event's body (contract, section 6). Pure. */
export function eventBody(newEvent: NewEvent): string {
  return JSON.stringify(newEvent.event === 'offer.received' ? offerReceived(newEvent) : rideStatus(newEvent));
}

function offerReceived({ ride, offer, trackUrl, at, eventId, sequence }: NewEvent): EventBody<'offer.received'> {
  return {
    event: 'offer.received',
    rideId: ride._id,
    offer: publicOffer(offer as Offer),
    offersCount: ride.offers.length,
    fare: ride.fare,
    trackUrl,
    at,
    ...partnerFields('event', ride),
    ...{ eventId, sequence },
  };
}

/** The exact JSON text of the event that an offer was withdrawn (contract, section 10.22). Pure. */
export function withdrawnBody({
  ride,
  offer,
  trackUrl,
  at,
  eventId,
}: Pick<NewEvent, 'ride' | 'trackUrl' | 'at' | 'eventId'> & { offer: Offer }): string {
  const body: EventBody<'offer.withdrawn'> = {
    event: 'offer.withdrawn',
    rideId: ride._id,
    offer: publicOffer(offer),
    fare: ride.fare,
    trackUrl,
    at,
    ...partnerFields('event', ride),
    eventId,
  };
  return JSON.stringify(body);
}

function rideStatus({ ride, trackUrl, at, eventId, sequence }: NewEvent): EventBody<'ride.status'> {
  return {
    event: 'ride.status',
    rideId: ride._id,
    // A ride starts as `bidding`, without an event. So no event has that status.
    status: ride.status as Exclude<RideState['status'], 'bidding'>,
    fare: ride.fare,
    driver: ride.driver ? pick(ride.driver, 'name', 'phone', 'plate', 'vehicle') : null,
    trackUrl,
    at,
    ...pick(ride, 'agreedPrice', 'cancelledBy', 'cancelReason'),
    // The event is sent once the successor exists (rebid.ts).
    ...(ride.nextRideId && { replacedBy: ride.nextRideId }),
    ...partnerFields('event', ride),
    ...{ eventId, sequence },
  };
}
