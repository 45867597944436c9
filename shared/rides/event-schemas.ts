import { eventId, withdrawnEventId } from '../base/ids.ts';
import { type JsonSchema, objectSchema, type Shape } from '../base/json-schema.ts';
import type { EventName, SentEvent } from '../base/terms.ts';
import { fieldsIn, schemasIn } from './fields.ts';
import * as field from './public-schemas.ts';

const at = {
  type: 'integer',
  description: 'The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event.',
} as const;

const { pickupAt, ...given } = schemasIn('event');

/** The fields after those of each kind of event. */
const common = {
  pickupAt,
  biddingOpensAt: field.biddingOpensAt,
  replaces: field.replaces,
  ...given,
  testMode: field.testMode,
  eventId: field.eventId,
};
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
    ...common,
    sequence: field.sequence,
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
    ...common,
    sequence: field.sequence,
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
    ...common,
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

export type EventBody<Name extends SentEvent> = Shape<(typeof sentEventSchemas)[Name]>;

export const exampleTrackUrl = 'https://rides.example/track/4kDq0ZrT8mXw2LpNc7VbYa';
export const exampleOffer: Shape<typeof field.offerSchema> = {
  offerId: field.offerSchema.properties.offerId.examples[0],
  price: 24.5,
  etaMinutes: 3,
  driver: { name: 'Alex Rivera', rating: 4.9, plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
};

/** Sample event bodies for the documentation. */
export const eventExamples: { [Name in SentEvent]: EventBody<Name> } = {
  'offer.received': {
    event: 'offer.received',
    rideId: field.rideId.examples[0],
    offer: exampleOffer,
    offersCount: 1,
    fare: 24.5,
    trackUrl: exampleTrackUrl,
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
    trackUrl: exampleTrackUrl,
    at: 1_795_269_605_127,
    agreedPrice: 24.5,
    reference: given.reference.examples[0],
    testMode: true,
    ...{ eventId: eventId(field.rideId.examples[0], 2), sequence: 2 },
  },
  'offer.withdrawn': {
    event: 'offer.withdrawn',
    rideId: field.rideId.examples[0],
    offer: exampleOffer,
    fare: 24.5,
    trackUrl: exampleTrackUrl,
    at: 1_795_269_603_412,
    reference: given.reference.examples[0],
    testMode: true,
    eventId: withdrawnEventId(field.rideId.examples[0], exampleOffer.offerId),
  },
};
