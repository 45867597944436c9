import { eventId, withdrawnEventId } from '../base/ids.ts';
import { type JsonSchema, objectSchema, type Shape } from '../base/json-schema.ts';
import type { EventName, SentEvent } from '../base/terms.ts';
import { type FieldIn, fieldsIn, type GivenFields, schemasIn, shownFields } from './fields.ts';
import { shownOpening } from './opening.ts';
import * as field from './public-schemas.ts';
import type { Offer, Ride, RideEvent, RideState, RideStatus } from './ride-types.ts';

const at = {
  type: 'integer',
  description: 'The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event.',
} as const;

/** The feed can also show bodies that were written before these fields existed, until they are erased. */
const identity = { eventId: field.eventId, sequence: field.sequence };

const { pickupAt, ...given } = schemasIn('event');
const optionalInEvents = [...fieldsIn('event'), ...(['biddingOpensAt', 'replaces', 'testMode'] as const)] as const;

const offerReceivedSchema = objectSchema(
  {
    event: { const: 'offer.received', type: 'string', description: 'The name of the event.' },
    rideId: field.rideId,
    offer: field.offerSchema,
    offersCount: { ...field.offersCount, description: 'Number of offers the ride has received, this one included.' },
    fare: field.fare,
    trackUrl: field.trackUrl,
    at,
    pickupAt,
    biddingOpensAt: field.biddingOpensAt,
    replaces: field.replaces,
    ...given,
    testMode: field.testMode,
    ...identity,
  },
  {
    title: 'OfferReceivedEvent',
    description: 'A driver made an offer on a bidding ride.',
    optional: optionalInEvents,
  },
);

const rideStatusSchema = objectSchema(
  {
    event: { const: 'ride.status', type: 'string', description: 'The name of the event.' },
    rideId: field.rideId,
    status: {
      title: 'EventStatus',
      type: 'string',
      enum: ['driver_arriving', 'arrived', 'in_progress', 'completed', 'cancelled'],
      description: 'The new status of the ride.',
    },
    fare: field.fare,
    driver: {
      anyOf: [
        objectSchema({ name: field.driverName, phone: field.phone, plate: field.plate, vehicle: field.vehicle }),
        { type: 'null' },
      ],
      description: 'The driver of the accepted offer; `null` if none was accepted.',
    },
    trackUrl: field.trackUrl,
    at,
    agreedPrice: field.agreedPrice,
    cancelledBy: field.cancelledBy,
    cancelReason: field.cancelReason,
    replacedBy: field.replacedBy,
    pickupAt,
    biddingOpensAt: field.biddingOpensAt,
    replaces: field.replaces,
    ...given,
    testMode: field.testMode,
    ...identity,
  },
  {
    title: 'RideStatusEvent',
    description: 'The status of a ride changed.',
    optional: ['agreedPrice', 'cancelledBy', 'cancelReason', 'replacedBy', ...optionalInEvents],
  },
);

const offerWithdrawnSchema = objectSchema(
  {
    event: { const: 'offer.withdrawn', type: 'string', description: 'The name of the event.' },
    rideId: field.rideId,
    offer: field.offerSchema,
    fare: field.fare,
    trackUrl: field.trackUrl,
    at: { ...at, description: 'When the offer was withdrawn, as Unix time in milliseconds.' },
    pickupAt,
    biddingOpensAt: field.biddingOpensAt,
    replaces: field.replaces,
    ...given,
    testMode: field.testMode,
    eventId: field.eventId,
  },
  {
    title: 'OfferWithdrawnEvent',
    description: 'An offer on a bidding ride was withdrawn. Sent only to webhook endpoints that ask for it.',
    optional: optionalInEvents,
  },
);

/** The bodies of the events of a ride, by name (contract, section 6). */
export const eventSchemas = {
  'offer.received': offerReceivedSchema,
  'ride.status': rideStatusSchema,
} as const satisfies Record<EventName, JsonSchema>;

/** The bodies of all events that are sent, by name (contract, sections 6 and 10.22). */
export const sentEventSchemas = {
  ...eventSchemas,
  'offer.withdrawn': offerWithdrawnSchema,
} as const satisfies Record<SentEvent, JsonSchema>;

type EventBody<Name extends SentEvent> = Shape<(typeof sentEventSchemas)[Name]>;

const trackUrlExample = 'https://rides.example/track/4kDq0ZrT8mXw2LpNc7VbYa';

/** Sample event bodies for the documentation. */
export const eventExamples: { [Name in SentEvent]: EventBody<Name> } = {
  'offer.received': {
    event: 'offer.received',
    rideId: field.rideId.examples[0],
    offer: {
      offerId: 'offer_5Jt2WmKx8QbR1vZc',
      price: 24.5,
      etaMinutes: 3,
      driver: { name: 'Alex Rivera', rating: 4.9, plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
    },
    offersCount: 1,
    fare: 24.5,
    trackUrl: trackUrlExample,
    at: 1_795_269_602_118,
    reference: given.reference.examples[0],
    testMode: true,
    ...{ eventId: eventId(field.rideId.examples[0], 1), sequence: 1 },
  },
  'ride.status': {
    event: 'ride.status',
    rideId: field.rideId.examples[0],
    status: 'driver_arriving',
    fare: 24.5,
    driver: { name: 'Alex Rivera', phone: '+12025550143', plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
    trackUrl: trackUrlExample,
    at: 1_795_269_605_127,
    agreedPrice: 24.5,
    reference: given.reference.examples[0],
    testMode: true,
    ...{ eventId: eventId(field.rideId.examples[0], 2), sequence: 2 },
  },
  'offer.withdrawn': {
    event: 'offer.withdrawn',
    rideId: field.rideId.examples[0],
    offer: {
      offerId: 'offer_5Jt2WmKx8QbR1vZc',
      price: 24.5,
      etaMinutes: 3,
      driver: { name: 'Alex Rivera', rating: 4.9, plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
    },
    fare: 24.5,
    trackUrl: trackUrlExample,
    at: 1_795_269_603_412,
    reference: given.reference.examples[0],
    testMode: true,
    eventId: withdrawnEventId(field.rideId.examples[0], 'offer_5Jt2WmKx8QbR1vZc'),
  },
};

/** The public fields of an offer (contract, section 2.3). */
export function publicOffer({ offerId, price, etaMinutes, driver }: Offer): Shape<typeof field.offerSchema> {
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

/**
 * The URL of the ride's public live map, which needs no key (contract, section 2.1). An erased ride has no token: its
 * URL shows the page for expired links. Pure.
 */
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
    driver: ride.driver ? eventDriver(ride.driver) : null,
    trackUrl,
    at,
    ...(ride.agreedPrice !== undefined && { agreedPrice: ride.agreedPrice }),
    ...(ride.cancelledBy && { cancelledBy: ride.cancelledBy }),
    ...(ride.cancelReason && { cancelReason: ride.cancelReason }),
    // The event is sent once the successor exists (rebid.ts).
    ...(ride.nextRideId && { replacedBy: ride.nextRideId }),
    ...partnerFields('event', ride),
    ...{ eventId, sequence },
  };
}

function eventDriver({ name, phone, plate, vehicle }: NonNullable<RideState['driver']>) {
  return { name, phone, plate, vehicle };
}
