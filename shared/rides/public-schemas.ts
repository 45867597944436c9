import { objectSchema } from '../base/json-schema.ts';
import { cancellers, rideStatuses } from './ride-types.ts';

/** The fields that responses and events share, as JSON Schema (contract, sections 2 and 6). Pure. */
export const rideId = {
  type: 'string',
  description: 'The id of the ride.',
  examples: ['ride_0Uw4cA1k9fZ3xQ7LmT2bVn8Y'],
} as const;

export const unixMs = (description: string) =>
  ({ type: 'integer', description: `${description}, as Unix time in milliseconds.` }) as const;

export const lat = { type: 'number', minimum: -90, maximum: 90, description: 'Latitude in degrees.' } as const;
export const lng = { type: 'number', minimum: -180, maximum: 180, description: 'Longitude in degrees.' } as const;

export const status = {
  type: 'string',
  enum: rideStatuses,
  description: 'The status of the ride.',
} as const;

export const fare = { type: 'number', exclusiveMinimum: 0, description: 'The fare that you offer, in USD.' } as const;

export const agreedPrice = {
  type: 'number',
  description: 'The price of the accepted offer, in USD. Present once an offer is accepted.',
} as const;

export const trackUrl = {
  type: 'string',
  format: 'uri',
  description: 'URL of the public live map. It needs no key.',
} as const;

export const cancelledBy = {
  type: 'string',
  enum: cancellers,
  description: 'The party that cancelled the ride. Present once it is cancelled.',
} as const;

export const testMode = {
  const: true,
  type: 'boolean',
  description: '`true` for a ride created with a test key; absent otherwise.',
} as const;

export const offersCount = {
  type: 'integer',
  minimum: 0,
  description: 'Number of offers that the ride has received, including withdrawn ones.',
} as const;

export const reference = {
  type: 'string',
  maxLength: 64,
  description: 'Your own name for the ride. Present if you gave one.',
  examples: ['booking-70133'],
} as const;

export const metadata = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Your own entries, sorted by name. Present if you gave any.',
  examples: [{ desk: 'lobby', room: '1204' }],
} as const;

export const eventId = {
  type: 'string',
  description: 'The id of the event, as in `X-Service-Event-Id`.',
  examples: ['evt_0Uw4cA1k9fZ3xQ7LmT2bVn8Y_2'],
} as const;

export const sequence = {
  type: 'integer',
  minimum: 1,
  description: 'Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`.',
} as const;

export const driverName = { type: 'string', description: 'Name of the driver.' } as const;
export const phone = { type: 'string', description: 'Phone number of the driver.' } as const;
export const rating = { type: 'number', description: 'Rating of the driver, up to 5.' } as const;
export const vehicle = { type: 'string', description: 'Model and colour of the car.' } as const;
export const plate = { type: 'string', description: 'Licence plate of the car.' } as const;

/** An offer (contract, section 2.3). */
export const offerSchema = objectSchema(
  {
    offerId: { type: 'string', description: 'The id of the offer. Send it to accept the offer.' },
    price: { type: 'number', description: 'The price that the driver asks, in USD.' },
    etaMinutes: {
      type: 'number',
      description: "The driver's estimate of the minutes until arrival at the pickup.",
    },
    driver: objectSchema(
      { name: driverName, rating, plate, vehicle },
      { description: 'The driver who made the offer. The phone number is shown once you accept.' },
    ),
  },
  { title: 'Offer', description: 'An offer of one driver for a ride.' },
);
