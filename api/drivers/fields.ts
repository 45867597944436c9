import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { carTypes } from '../../shared/base/terms.ts';
import { agreedPrice, cancelledBy, lat, lng, offerSchema, rideId } from '../../shared/rides/public-schemas.ts';
import { movingStatuses, rideTypes } from '../../shared/rides/ride-types.ts';

/** The fields that several operations show, and those that the driver's page reads, as JSON Schema. Times are Unix ms. Pure. */

export const unixMs = (description: string) =>
  ({ type: 'integer', description: `${description}, as Unix time in milliseconds.` }) as const;

export const available = { type: 'boolean', description: 'Whether rides are opened to you now.' } as const;
export const availability = objectSchema({ available }, { title: 'DriverAvailability' });

export const offerId = offerSchema.properties.offerId;

/** The request of the partner, as drivers see it. */
const wish = {
  fare: { type: 'number', exclusiveMinimum: 0, description: 'What the partner offers to pay, in USD.' },
  carType: { type: 'string', enum: carTypes, description: 'The kind of car that is asked for.' },
  rideType: { type: 'string', enum: rideTypes, description: 'Within a city, or between cities.' },
  passengerCount: { type: 'integer', minimum: 1, maximum: 7, description: 'How many people ride.' },
  distanceKm: { type: 'number', minimum: 0, description: 'Length of the trip.' },
} as const;

export const request = objectSchema(
  {
    rideId,
    ...wish,
    pickup: objectSchema({ lat, lng }, { description: 'Where the ride begins.' }),
    destination: objectSchema({ lat, lng }, { description: 'Where it ends.' }),
    pickupKm: { type: 'number', minimum: 0, description: 'How far you were from the pickup when you were asked.' },
    biddingEndsAt: unixMs('Until when the ride takes offers'),
    offer: objectSchema(
      {
        offerId,
        price: { type: 'number', description: 'What you ask, in USD.' },
        etaMinutes: { type: 'number', description: 'Minutes until you can be at the pickup.' },
      },
      { description: 'Your own live offer. Present while you have one.' },
    ),
  },
  { title: 'DriverRequest', description: 'A ride that is open to you.', optional: ['offer'] },
);

const address = { type: 'string', description: 'The address as the partner gave it.' } as const;
const place = (description: string) => objectSchema({ lat, lng, address }, { description, optional: ['address'] });

export const ride = objectSchema(
  {
    rideId,
    status: { type: 'string', enum: movingStatuses, description: 'Where the ride is in its lifecycle.' },
    statusAt: unixMs('Since when'),
    agreedPrice: { ...agreedPrice, description: 'The price of your offer, in USD.' },
    ...wish,
    pickup: place('Where the ride begins.'),
    destination: place('Where it ends.'),
    passenger: objectSchema(
      {
        name: { type: 'string', description: 'Their name.' },
        phone: { type: 'string', description: 'Their phone number.' },
      },
      { description: 'Whom to look for. Present if the partner said it.', optional: ['name', 'phone'] },
    ),
    notes: { type: 'string', description: 'What the partner wants you to know. Present if there is something.' },
  },
  {
    title: 'DriverRide',
    description: 'The ride that you were chosen for, until its end.',
    optional: ['passenger', 'notes'],
  },
);

export const outcome = objectSchema(
  {
    rideId,
    outcome: {
      type: 'string',
      enum: ['open', 'chosen', 'other_driver', 'completed', 'cancelled'],
      description:
        '`open`: no driver is chosen yet. `chosen`: you are. `other_driver`: another driver is or was. `completed`, `cancelled`: the ride has ended, and no other driver had it.',
    },
    cancelledBy: { ...cancelledBy, description: 'Who ended the ride. Present with `cancelled`.' },
  },
  { title: 'DriverRequestOutcome', optional: ['cancelledBy'] },
);

export type ShownRequest = Shape<typeof request>;
export type ShownRide = Shape<typeof ride>;
export type ShownOutcome = Shape<typeof outcome>;

/** The ride and the place of all examples. */
export const exampleRideId = rideId.examples[0];
export const exampleWish = {
  fare: 24.5,
  carType: 'regular',
  rideType: 'standard',
  passengerCount: 1,
  distanceKm: 5.31,
} as const;
export const examplePlace = { lat: 40.7614, lng: -73.9776 } as const;
