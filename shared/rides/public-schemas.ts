import { objectSchema } from '../base/json-schema.ts';
import { cancellers, rideStatuses } from './ride-types.ts';

/** The fields that answers and events share, as JSON Schema (contract, sections 2 and 6). Pure. */
export const rideId = {
  type: 'string',
  description: 'Names the ride.',
  examples: ['ride_0Uw4cA1k9fZ3xQ7LmT2bVn8Y'],
} as const;

export const lat = { type: 'number', minimum: -90, maximum: 90, description: 'Latitude in degrees.' } as const;
export const lng = { type: 'number', minimum: -180, maximum: 180, description: 'Longitude in degrees.' } as const;

export const status = {
  type: 'string',
  enum: rideStatuses,
  description: 'Where the ride is in its lifecycle.',
} as const;

export const fare = { type: 'number', exclusiveMinimum: 0, description: 'What you offer to pay, in USD.' } as const;

export const agreedPrice = {
  type: 'number',
  description: 'The price of the accepted offer, in USD. Present from the accepted offer on.',
} as const;

export const trackUrl = {
  type: 'string',
  format: 'uri',
  description: 'Address of the public page with the live map. It needs no key.',
} as const;

export const cancelledBy = {
  type: 'string',
  enum: cancellers,
  description: 'Who ended the ride. Present once it is cancelled.',
} as const;

export const testMode = {
  const: true,
  type: 'boolean',
  description: '`true` on a ride that was made with a test key; absent on others.',
} as const;

export const offersCount = {
  type: 'integer',
  minimum: 0,
  description: 'How many offers the ride has received, withdrawn ones included.',
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

export const driverName = { type: 'string', description: 'Name of the driver.' } as const;
export const phone = { type: 'string', description: 'Phone number of the driver.' } as const;
export const rating = { type: 'number', description: 'Rating of the driver, up to 5.' } as const;
export const vehicle = { type: 'string', description: 'Model and colour of the car.' } as const;
export const plate = { type: 'string', description: 'Licence plate of the car.' } as const;

/** An offer (contract, section 2.3). */
export const offerSchema = objectSchema(
  {
    offerId: { type: 'string', description: 'Names the offer; accept takes it.' },
    price: { type: 'number', description: 'What the driver asks, in USD.' },
    etaMinutes: {
      type: 'number',
      description: 'Minutes until the driver can be at the pickup, as the driver estimates.',
    },
    driver: objectSchema(
      { name: driverName, rating, plate, vehicle },
      { description: 'Who would come. Without a phone number: that is shown once you accept.' },
    ),
  },
  { title: 'Offer', description: 'The price that one driver asks for a ride.' },
);
