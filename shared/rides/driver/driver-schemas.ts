import { objectSchema, type Shape } from '../../base/json-schema.ts';
import { fieldsIn, schemasIn } from '../fields.ts';
import {
  agreedPrice,
  cancelledBy,
  carType,
  driverMessages,
  eta,
  lat,
  lng,
  movingStatus,
  offerSchema,
  passengerCount,
  rideId,
  rideType,
  unixMs,
} from '../public-schemas.ts';

/** JSON Schemas of fields that several operations return or the driver's page reads. */

export const available = { type: 'boolean', description: 'True if new rides are opened to you now.' } as const;
export const availability = objectSchema({ available }, { title: 'DriverAvailability' });

export const offerId = { ...offerSchema.properties.offerId, description: 'The id of your offer.' } as const;

/** The partner's request, as drivers see it. */
const wish = {
  fare: { type: 'number', exclusiveMinimum: 0, description: 'The price that the partner offers, in USD.' },
  carType: { ...carType, description: 'The requested kind of car.' },
  rideType,
  passengerCount,
  distanceKm: { type: 'number', minimum: 0, description: 'Length of the trip.' },
  ...schemasIn('request'),
} as const;

export const request = objectSchema(
  {
    rideId,
    ...wish,
    pickup: objectSchema({ lat, lng }, { description: 'The start of the ride.' }),
    destination: objectSchema({ lat, lng }, { description: 'The end of the ride.' }),
    pickupKm: { type: 'number', minimum: 0, description: 'Your distance to the pickup when you were asked.' },
    biddingEndsAt: unixMs('The end of the bidding time'),
    offer: objectSchema(
      {
        offerId,
        price: { type: 'number', description: 'Your price, in USD.' },
        etaMinutes: { type: 'number', description: 'Minutes until you can be at the pickup.' },
      },
      { description: 'Your own live offer. Present while you have one.' },
    ),
  },
  {
    title: 'DriverRequest',
    description: 'A ride that is open to you.',
    optional: [...fieldsIn('request'), 'offer'],
  },
);

const address = { type: 'string', description: 'The address as the partner gave it.' } as const;
const { passenger, ...given } = schemasIn('ownRide');
const place = (description: string) => objectSchema({ lat, lng, address }, { description, optional: ['address'] });

export const ride = objectSchema(
  {
    rideId,
    status: movingStatus,
    statusAt: unixMs('The time of the last status change'),
    agreedPrice: { ...agreedPrice, description: 'The price of your offer, in USD.' },
    ...wish,
    pickup: place('The start of the ride.'),
    destination: place('The end of the ride.'),
    eta,
    road: {
      type: 'string',
      description:
        'The road to the pickup or the destination, as an encoded polyline with 6 decimals. Present while you drive there, if the service knows it.',
    },
    passenger: objectSchema(
      {
        ...passenger.properties,
        callUrl: {
          type: 'string',
          description:
            'The `tel:` URL that calls the first number in `phone`: its country and digits, and its extension after a comma. Absent if no number can be dialled with certainty.',
        },
      },
      { description: passenger.description, optional: ['name', 'phone', 'locale', 'callUrl'] },
    ),
    ...given,
    messages: driverMessages('Messages from the partner to you, in order. Absent without any.'),
  },
  {
    title: 'DriverRide',
    description: 'The ride that you were chosen for, until its end.',
    optional: ['eta', 'road', ...fieldsIn('ownRide'), 'messages'],
  },
);

export const outcome = objectSchema(
  {
    rideId,
    outcome: {
      title: 'DriverOutcome',
      type: 'string',
      enum: ['open', 'chosen', 'other_driver', 'completed', 'cancelled'],
      description:
        '`open`: no driver is chosen yet. `chosen`: you are the chosen driver. `other_driver`: another driver was chosen. `completed`, `cancelled`: the ride has ended, and no other driver was chosen.',
    },
    cancelledBy: { ...cancelledBy, description: 'Who cancelled the ride. Present with `cancelled`.' },
  },
  { title: 'DriverRequestOutcome', optional: ['cancelledBy'] },
);

export const trips = objectSchema(
  {
    since: unixMs('The start of the period'),
    trips: { type: 'integer', minimum: 0, description: 'The number of trips that you completed in the period.' },
    earned: { type: 'number', minimum: 0, description: 'The sum of their agreed prices, in USD.' },
    last: objectSchema(
      {
        rideId,
        completedAt: unixMs('The end of the trip'),
        agreedPrice: { ...agreedPrice, description: 'The price of your offer, in USD.' },
        distanceKm: wish.distanceKm,
      },
      { description: 'The last trip that you completed, also before the period. Absent if there is none.' },
    ),
  },
  { title: 'DriverTrips', optional: ['last'] },
);

export type ShownRequest = Shape<typeof request>;
export type ShownRide = Shape<typeof ride>;
export type ShownOutcome = Shape<typeof outcome>;
export type ShownTrips = Shape<typeof trips>;

/** The values that all examples share. */
export const exampleRideId = rideId.examples[0];
export const exampleWish = {
  fare: 24.5,
  carType: 'regular',
  rideType: 'standard',
  passengerCount: 1,
  distanceKm: 5.31,
} as const;
export const examplePlace = { lat: 40.7614, lng: -73.9776 } as const;
