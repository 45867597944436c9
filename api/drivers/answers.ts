import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { carTypes } from '../../shared/base/terms.ts';
import {
  agreedPrice,
  cancelledBy,
  lat,
  lng,
  offerSchema,
  plate,
  rating,
  rideId,
  vehicle,
} from '../../shared/rides/public-schemas.ts';
import { movingStatuses, rideTypes } from '../../shared/rides/ride-types.ts';

/** The answers of the drivers' gateway as JSON Schema. Each presenter returns the shape of one. */

const unixMs = (description: string) =>
  ({ type: 'integer', description: `${description}, as Unix time in milliseconds.` }) as const;
const available = { type: 'boolean', description: 'Whether rides are opened to you now.' } as const;
const offerId = offerSchema.properties.offerId;

/** What the partner asked for, as drivers see it. */
const wish = {
  fare: { type: 'number', exclusiveMinimum: 0, description: 'What the partner offers to pay, in USD.' },
  carType: { type: 'string', enum: carTypes, description: 'The kind of car that is asked for.' },
  rideType: { type: 'string', enum: rideTypes, description: 'Within a city, or between cities.' },
  passengerCount: { type: 'integer', minimum: 1, maximum: 7, description: 'How many people ride.' },
  distanceKm: { type: 'number', minimum: 0, description: 'Length of the trip.' },
} as const;

export const profile = objectSchema(
  {
    driverId: { type: 'string', description: 'Names you.', examples: ['driver_5Jt2WmKx8QbR1v'] },
    name: { type: 'string', description: 'Your name, as partners see it.' },
    rating,
    vehicle,
    plate,
    carType: { type: 'string', enum: carTypes, description: 'The kind of your car.' },
    seats: { type: 'integer', minimum: 1, description: 'How many passengers it takes.' },
    available,
    position: objectSchema(
      {
        lat,
        lng,
        heading: { type: 'number', minimum: 0, maximum: 360, description: 'Degrees clockwise from north.' },
        at: unixMs('When you were there'),
      },
      { description: 'Where you were last. Present once you were online.' },
    ),
    rideId: { ...rideId, description: 'The ride that you are on.' },
  },
  { title: 'DriverProfile', optional: ['position', 'rideId'] },
);

export const availability = objectSchema({ available }, { title: 'DriverAvailability' });

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

export const requestList = objectSchema(
  {
    requests: {
      type: 'array',
      items: request,
      description: 'The ride whose bidding ends first is in front. None while you are on a ride.',
    },
  },
  { title: 'DriverRequestList' },
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

export const offerMade = objectSchema({ offerId }, { title: 'DriverOfferMade' });

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

export const ownRide = objectSchema(
  { ride: { anyOf: [ride, { type: 'null' }], description: '`null` while you are not on a ride.' } },
  { title: 'DriverOwnRide' },
);

export const stepTaken = objectSchema(
  {
    rideId,
    status: {
      type: 'string',
      enum: ['arrived', 'in_progress', 'completed', 'cancelled'],
      description: 'The status that the step leads to.',
    },
  },
  { title: 'DriverStepTaken' },
);

const exampleRideId = rideId.examples[0];
const exampleWish = {
  fare: 24.5,
  carType: 'regular',
  rideType: 'standard',
  passengerCount: 1,
  distanceKm: 5.31,
} as const;

const requests: Shape<typeof requestList> = {
  requests: [
    {
      rideId: exampleRideId,
      ...exampleWish,
      pickup: { lat: 40.758, lng: -73.9855 },
      destination: { lat: 40.7128, lng: -74.006 },
      pickupKm: 0.78,
      biddingEndsAt: 1_795_270_199_512,
      offer: { offerId: 'offer_5Jt2WmKx8QbR1vZc', price: 26, etaMinutes: 4 },
    },
  ],
};
const own: Shape<typeof ownRide> = {
  ride: {
    rideId: exampleRideId,
    status: 'driver_arriving',
    statusAt: 1_795_269_605_127,
    agreedPrice: 26,
    ...exampleWish,
    pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
    destination: { lat: 40.7128, lng: -74.006 },
    passenger: { name: 'Sam Lee', phone: '+12025550178' },
    notes: 'Two suitcases; waiting at the main entrance.',
  },
};

export const examples = {
  profile: {
    driverId: profile.properties.driverId.examples[0],
    name: 'Dana Okoye',
    rating: 4.8,
    vehicle: 'Toyota Prius, blue',
    plate: 'T 104',
    carType: 'regular',
    seats: 4,
    available: true,
    position: { lat: 40.7614, lng: -73.9776, heading: 210, at: 1_795_269_600_402 },
  } satisfies Shape<typeof profile>,
  online: { available: true } satisfies Shape<typeof availability>,
  offline: { available: false } satisfies Shape<typeof availability>,
  requests,
  outcome: { rideId: exampleRideId, outcome: 'cancelled', cancelledBy: 'partner' } satisfies Shape<typeof outcome>,
  offerMade: { offerId: 'offer_5Jt2WmKx8QbR1vZc' } satisfies Shape<typeof offerMade>,
  own,
  stream: 'event: requests\ndata: {"requests":[]}\n\nevent: ride\ndata: {"ride":null}\n\n',
};
