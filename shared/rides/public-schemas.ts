import { objectSchema } from '../base/json-schema.ts';
import { carTypes, longestComment } from '../base/terms.ts';
import { cancellers, cancelReasons, movingStatuses, rideStatuses, rideTypes } from './ride-types.ts';

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

/** The heading of a car. */
export const heading = {
  type: 'number',
  minimum: 0,
  maximum: 360,
  description: 'Degrees clockwise from north.',
} as const;

export const status = {
  title: 'RideStatus',
  type: 'string',
  enum: rideStatuses,
  description: 'The status of the ride.',
} as const;

/** The status of a ride that has a driver and has not ended. */
export const movingStatus = {
  title: 'MovingStatus',
  type: 'string',
  enum: movingStatuses,
  description: 'The status of the ride.',
} as const;

export const carType = {
  title: 'CarType',
  type: 'string',
  enum: carTypes,
  description: 'The kind of car.',
} as const;

export const rideType = {
  title: 'RideType',
  type: 'string',
  enum: rideTypes,
  description: 'Within a city, or between cities.',
} as const;

export const passengerCount = {
  type: 'integer',
  minimum: 1,
  maximum: 7,
  description: 'Number of passengers.',
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
  title: 'CancelledBy',
  type: 'string',
  enum: cancellers,
  description: 'The party that cancelled the ride. Present once it is cancelled.',
} as const;

export const cancelReason = {
  title: 'CancelReason',
  type: 'string',
  enum: cancelReasons,
  description:
    'Why the ride was cancelled. `no_offers`: no offer was accepted in time. `no_show`: the trip did not start after the driver had arrived. `no_progress`: the driver did not arrive, or the trip did not end. `driver`, `partner`: one of them cancelled. Present once it is cancelled.',
} as const;

export const eta = objectSchema(
  {
    minutes: { type: 'integer', minimum: 0, description: 'Whole minutes until then, rounded up.' },
    at: unixMs('The expected time'),
    source: {
      title: 'EtaSource',
      type: 'string',
      enum: ['route', 'estimate'],
      description:
        '`route`: from the road to drive. `estimate`: from the great circle, or from what the driver has promised.',
    },
  },
  {
    description:
      'When the car is expected at the pickup, or at the destination. Present in `driver_arriving` and `in_progress`.',
  },
);

export const biddingOpensAt = {
  type: 'integer',
  description: 'From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`.',
} as const;

export const replaces = {
  ...rideId,
  description: 'The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride.',
} as const;

export const replacedBy = {
  ...rideId,
  description: 'The id of the ride that replaces this one, because the driver cancelled. Present if there is one.',
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

export const endpointId = {
  type: 'string',
  description: 'The id of a webhook endpoint.',
  examples: ['endpoint_7Kq2WmXb4T0Vc9'],
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
  examples: [2],
} as const;

export const driverName = { type: 'string', description: 'Name of the driver.' } as const;
export const phone = { type: 'string', description: 'Phone number of the driver.' } as const;
export const rating = { type: 'number', description: 'Rating of the driver, up to 5.' } as const;
/** The rating of a ride (contract, section 10.21). */
export const rideRating = objectSchema(
  {
    stars: { type: 'integer', minimum: 1, maximum: 5, description: 'The stars, 5 for the best ride.' },
    comment: {
      type: 'string',
      maxLength: longestComment,
      description: 'The passenger’s comment. Absent if there is none, or once the ride is erased.',
    },
    at: unixMs('When the ride was rated'),
  },
  {
    title: 'RideRating',
    description: 'The passenger’s rating of the ride. Absent until the passenger has rated it.',
    optional: ['comment'],
  },
);
export const vehicle = { type: 'string', description: 'Model and colour of the car.' } as const;
export const plate = { type: 'string', description: 'Licence plate of the car.' } as const;

/** An offer (contract, section 2.3). */
export const offerSchema = objectSchema(
  {
    offerId: {
      type: 'string',
      description: 'The id of the offer. Send it to accept the offer.',
      examples: ['offer_5Jt2WmKx8QbR1vZc'],
    },
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

/** The month of a statement, in a path and in answers. */
export const month = {
  type: 'string',
  pattern: '^20\\d\\d-(0[1-9]|1[0-2])$',
  description: 'A month in UTC.',
  examples: ['2026-11'],
} as const;

export const messageNumber = {
  type: 'integer',
  minimum: 1,
  maximum: 10,
  description: 'The number of the message in the ride, from 1.',
} as const;

/** The messages of a partner to the driver of a ride. */
export const driverMessages = <D extends string>(description: D) =>
  ({
    type: 'array',
    items: objectSchema(
      {
        number: messageNumber,
        text: { type: 'string', description: 'The text.' },
        at: unixMs('When it was sent'),
        seenAt: unixMs('When the driver had seen it. Absent before'),
      },
      { title: 'DriverMessage', description: 'A message to the driver.', optional: ['seenAt'] },
    ),
    description,
  }) as const;
