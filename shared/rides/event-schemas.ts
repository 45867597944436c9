import { type JsonSchema, objectSchema, type Shape } from '../base/json-schema.ts';
import {
  agreedPrice,
  cancelledBy,
  driverName,
  fare,
  metadata,
  offerSchema,
  offersCount,
  phone,
  plate,
  reference,
  rideId,
  testMode,
  trackUrl,
  vehicle,
} from './public-schemas.ts';
import type { EventName } from './ride-types.ts';

const at = {
  type: 'integer',
  description: 'When it happened, as Unix time in milliseconds. Later than the `at` of the event before.',
} as const;

const offerReceived = objectSchema(
  {
    event: { const: 'offer.received', type: 'string', description: 'The name of the event.' },
    rideId,
    offer: offerSchema,
    offersCount: { ...offersCount, description: 'How many offers the ride has received, this one included.' },
    fare,
    trackUrl,
    at,
    reference,
    metadata,
    testMode,
  },
  {
    title: 'OfferReceivedEvent',
    description: 'A driver has made an offer on a bidding ride.',
    optional: ['reference', 'metadata', 'testMode'],
  },
);

const rideStatus = objectSchema(
  {
    event: { const: 'ride.status', type: 'string', description: 'The name of the event.' },
    rideId,
    status: {
      type: 'string',
      enum: ['driver_arriving', 'arrived', 'in_progress', 'completed', 'cancelled'],
      description: 'The new status of the ride.',
    },
    fare,
    driver: {
      anyOf: [objectSchema({ name: driverName, phone, plate, vehicle }), { type: 'null' }],
      description: 'The driver of the accepted offer; `null` where none was accepted.',
    },
    trackUrl,
    at,
    agreedPrice,
    cancelledBy,
    reference,
    metadata,
    testMode,
  },
  {
    title: 'RideStatusEvent',
    description: 'The status of a ride has changed.',
    optional: ['agreedPrice', 'cancelledBy', 'reference', 'metadata', 'testMode'],
  },
);

/** The bodies of all events, by name (contract, section 6). */
export const eventSchemas = {
  'offer.received': offerReceived,
  'ride.status': rideStatus,
} as const satisfies Record<EventName, JsonSchema>;

export type EventBody<Name extends EventName> = Shape<(typeof eventSchemas)[Name]>;

const trackUrlExample = 'https://rides.example/track/4kDq0ZrT8mXw2LpNc7VbYa';

/** An event as it is sent, for the documentation. */
export const eventExamples: { [Name in EventName]: EventBody<Name> } = {
  'offer.received': {
    event: 'offer.received',
    rideId: rideId.examples[0],
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
    reference: reference.examples[0],
    testMode: true,
  },
  'ride.status': {
    event: 'ride.status',
    rideId: rideId.examples[0],
    status: 'driver_arriving',
    fare: 24.5,
    driver: { name: 'Alex Rivera', phone: '+12025550143', plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
    trackUrl: trackUrlExample,
    at: 1_795_269_605_127,
    agreedPrice: 24.5,
    reference: reference.examples[0],
    testMode: true,
  },
};
