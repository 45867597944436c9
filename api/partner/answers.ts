import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { carTypes } from '../../shared/base/terms.ts';
import { fareBases } from '../../shared/fares/fare-hint.ts';
import { eventExamples, eventSchemas } from '../../shared/rides/events.ts';
import {
  agreedPrice,
  cancelledBy,
  driverName,
  fare,
  lat,
  lng,
  metadata,
  offerSchema,
  offersCount,
  phone,
  plate,
  rating,
  reference,
  rideId,
  status,
  testMode,
  trackUrl,
  vehicle,
} from '../../shared/rides/public-schemas.ts';
import { deliveryOutcomes, type EventName, movingStatuses, type RideStatus } from '../../shared/rides/ride-types.ts';

/** The answers of the partner API as JSON Schema (contract, sections 2 and 4). Each presenter returns the shape of one. */

const carType = { type: 'string', enum: carTypes, description: 'The kind of car.' } as const;
const distanceKm = {
  type: 'number',
  minimum: 0,
  description: 'Length of the trip: as you gave it, else the great-circle distance.',
} as const;

const autoAccept = objectSchema(
  {
    maxPrice: { type: 'number', exclusiveMinimum: 0, description: 'What it may cost at most, in USD.' },
    maxEtaMinutes: {
      type: 'number',
      minimum: 0,
      description: 'How far away the driver may be, in minutes. Present if you gave it.',
    },
  },
  {
    description: 'Which offer is accepted by itself, as you gave it. Present if you gave it.',
    optional: ['maxEtaMinutes'],
  },
);

const location = (description: string) =>
  objectSchema(
    { lat, lng, address: { type: 'string', description: 'The address as you gave it.' } },
    { description, optional: ['address'] },
  );

export const rideCreated = objectSchema(
  {
    rideId,
    status: { const: 'bidding', type: 'string', description: 'A new ride waits for offers.' },
    fare,
    carType,
    distanceKm,
    trackUrl,
    autoAccept,
    reference,
    metadata,
    testMode,
  },
  { title: 'RideCreated', optional: ['autoAccept', 'reference', 'metadata', 'testMode'] },
);

/** What retrieve and the list show of a ride. */
const rideFields = {
  rideId,
  status,
  fare,
  carType,
  passengerCount: { type: 'integer', minimum: 1, maximum: 7, description: 'How many people ride.' },
  distanceKm,
  offersCount,
  pickup: location('Where the ride begins.'),
  destination: location('Where it ends.'),
  driver: objectSchema(
    { name: driverName, phone, rating, vehicle, plate },
    { description: 'Who drives. Present from the accepted offer on.' },
  ),
  agreedPrice,
  trackUrl,
  cancelledBy,
  autoAccept,
  reference,
  metadata,
  testMode,
} as const;
const notAlways = ['driver', 'agreedPrice', 'cancelledBy', 'autoAccept', 'reference', 'metadata', 'testMode'] as const;

export const ride = objectSchema(
  {
    ...rideFields,
    liveLocation: objectSchema(
      {
        lat,
        lng,
        heading: { type: 'number', minimum: 0, maximum: 360, description: 'Degrees clockwise from north.' },
        status: { type: 'string', enum: movingStatuses, description: 'The status of the ride.' },
        at: { type: 'integer', description: 'When the car is there, as Unix time in milliseconds.' },
      },
      { description: 'Where the car is. Present in `driver_arriving`, `arrived` and `in_progress`.' },
    ),
  },
  { title: 'Ride', optional: [...notAlways, 'liveLocation'] },
);

const listedRide = objectSchema(
  {
    ...rideFields,
    createdAt: { type: 'integer', description: 'When it was created, as Unix time in milliseconds.' },
  },
  { title: 'ListedRide', description: 'A ride as the list shows it.', optional: notAlways },
);

export const rideList = objectSchema(
  {
    rides: { type: 'array', items: listedRide, description: 'The newest first, each without its live location.' },
    nextCursor: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The `cursor` of the next page; `null` on the last one.',
    },
  },
  { title: 'RideList' },
);

export const offerList = objectSchema(
  {
    rideId,
    offers: {
      type: 'array',
      items: offerSchema,
      description:
        'While the ride is `bidding` all live offers, the cheapest first; then the accepted one alone; none once it is cancelled.',
    },
  },
  { title: 'OfferList' },
);

const success = { const: true, type: 'boolean', description: 'Always `true`: a failure has another status.' } as const;

export const accepted = objectSchema(
  {
    success,
    rideId,
    status: {
      type: 'string',
      enum: movingStatuses,
      description: '`driver_arriving`; when you accept the same offer again, the present status.',
    },
  },
  { title: 'OfferAccepted' },
);

export const cancelled = objectSchema(
  { success, rideId, status: { const: 'cancelled', type: 'string', description: 'The ride has ended.' } },
  { title: 'RideCancelled' },
);

export const fareRaised = objectSchema(
  {
    success,
    rideId,
    status: { const: 'bidding', type: 'string', description: 'The ride waits for offers.' },
    fare,
  },
  { title: 'FareRaised' },
);

export const stepTaken = objectSchema(
  { success, rideId, status: { ...status, description: 'The status after the step.' } },
  { title: 'StepTaken' },
);

export const offeredByHand = objectSchema(
  { success, rideId, status: fareRaised.properties.status, offerId: offerSchema.properties.offerId },
  { title: 'OfferedByHand' },
);

const amount = (description: string) => ({ type: 'number', exclusiveMinimum: 0, description }) as const;
const quartiles = (description: string) =>
  ({
    anyOf: [
      objectSchema({
        lower: amount('A quarter of the trips came to less.'),
        median: amount('Half of the trips came to less.'),
        upper: amount('A quarter of the trips came to more.'),
      }),
      { type: 'null' },
    ],
    description,
  }) as const;

export const fareHint = objectSchema(
  {
    carType,
    distanceKm: { type: 'number', minimum: 0, description: 'The great-circle distance.' },
    basis: {
      enum: [...fareBases, null],
      description:
        '`rides`: completed rides of several partners. `tariff`: the tariff of the service, where too few rides are known. `sample`: the fixed sample for a test key. `null`: there is no hint.',
    },
    perKm: quartiles('In USD per km; `null` if there is no hint.'),
    fare: quartiles('The same for this distance, in USD. With a tariff, this includes its base.'),
  },
  { title: 'FareHint' },
);

const delivery = objectSchema(
  {
    outcome: {
      type: 'string',
      enum: deliveryOutcomes,
      description:
        '`delivered`: your receiver answered with a 2xx in time. With any other one it may not have the event.',
    },
    at: { type: 'integer', description: 'When it was tried, as Unix time in milliseconds.' },
    durationMs: { type: 'integer', minimum: 0, description: 'How long the attempt took, in milliseconds.' },
    httpStatus: {
      type: 'integer',
      description: 'The status that your receiver answered with. Present if it answered.',
    },
    reason: {
      type: 'string',
      description: 'Why it was not delivered, as a short code for people to read. Present where there is one.',
      examples: ['ECONNREFUSED'],
    },
  },
  { optional: ['httpStatus', 'reason'] },
);

export const feedEvent = objectSchema(
  {
    eventId: {
      type: 'string',
      description: 'Names the event, as `X-Service-Event-Id` does.',
      examples: ['evt_0Uw4cA1k9fZ3xQ7LmT2bVn8Y_2'],
    },
    rideId,
    seq: {
      type: 'integer',
      minimum: 1,
      description: 'Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`.',
    },
    event: { type: 'string', enum: Object.keys(eventSchemas) as EventName[], description: 'The name of the event.' },
    at: { type: 'integer', description: 'When it happened, as Unix time in milliseconds.' },
    body: {
      anyOf: [...Object.values(eventSchemas), { type: 'null' }],
      description:
        'What is sent to your webhook URL: the body of one of [these events](https://rides.example/docs/reference#events). `null` once it is erased.',
    },
    delivery: {
      anyOf: [delivery, { type: 'null' }],
      description: 'How it was delivered to your webhook URL; `null` while that is not recorded.',
    },
    requestId: {
      type: 'string',
      description: 'The `X-Request-Id` of your own request that led to the event. Present if one did.',
    },
  },
  { title: 'FeedEvent', description: 'An event, and how its delivery went.', optional: ['requestId'] },
);

export const rideEvents = objectSchema(
  { rideId, events: { type: 'array', items: feedEvent, description: 'By their number.' } },
  { title: 'RideEvents' },
);

export const eventPage = objectSchema(
  {
    events: { type: 'array', items: feedEvent, description: 'By their time, and then by ride.' },
    cursor: {
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'Where to go on: the `after` of your next request. `null` while there never was an event.',
    },
    hasMore: { type: 'boolean', description: 'Whether the next page can be read at once.' },
  },
  { title: 'EventPage' },
);

export const serviceInformation = objectSchema(
  {
    name: { type: 'string', description: 'Name of the service.' },
    version: { const: 'v1', type: 'string', description: 'Version of the API.' },
    docs: { type: 'string', format: 'uri', description: 'Address of these pages.' },
    endpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'Method and path of the five operations of the contract, relative to the base address.',
    },
    additionalEndpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'The same of every other operation. There may be more of them later.',
    },
  },
  { title: 'ServiceInformation' },
);

/** One ride's story, as the documentation tells it. */
const offer: Shape<typeof offerSchema> = {
  offerId: 'offer_5Jt2WmKx8QbR1vZc',
  price: 24.5,
  etaMinutes: 3,
  driver: { name: 'Alex Rivera', rating: 4.9, plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
};
const exampleRideId = rideId.examples[0];
const exampleTrackUrl = 'https://rides.example/track/4kDq0ZrT8mXw2LpNc7VbYa';

const exampleEvent: Shape<typeof feedEvent> = {
  eventId: feedEvent.properties.eventId.examples[0],
  rideId: exampleRideId,
  seq: 2,
  event: 'ride.status',
  at: eventExamples['ride.status'].at,
  body: eventExamples['ride.status'],
  delivery: { outcome: 'failed', at: 1_795_269_605_152, durationMs: 12, reason: 'ECONNREFUSED' },
  requestId: 'desk-7f31c0a2',
};

export const examples = {
  rideCreated: {
    rideId: exampleRideId,
    status: 'bidding',
    fare: 24.5,
    carType: 'regular',
    distanceKm: 5.31,
    trackUrl: exampleTrackUrl,
    reference: reference.examples[0],
    testMode: true,
  } satisfies Shape<typeof rideCreated>,
  ride: {
    rideId: exampleRideId,
    status: 'driver_arriving',
    fare: 24.5,
    carType: 'regular',
    passengerCount: 1,
    distanceKm: 5.31,
    offersCount: 1,
    pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
    destination: { lat: 40.7128, lng: -74.006 },
    driver: { ...offer.driver, phone: '+12025550143' },
    agreedPrice: 24.5,
    trackUrl: exampleTrackUrl,
    reference: reference.examples[0],
    liveLocation: { lat: 40.7531, lng: -73.9812, heading: 326.4, status: 'driver_arriving', at: 1_795_269_606_402 },
    testMode: true,
  } satisfies Shape<typeof ride>,
  rideList: {
    rides: [
      {
        rideId: exampleRideId,
        status: 'driver_arriving',
        fare: 24.5,
        carType: 'regular',
        passengerCount: 1,
        distanceKm: 5.31,
        offersCount: 1,
        pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
        destination: { lat: 40.7128, lng: -74.006 },
        driver: { ...offer.driver, phone: '+12025550143' },
        agreedPrice: 24.5,
        trackUrl: exampleTrackUrl,
        reference: reference.examples[0],
        metadata: metadata.examples[0],
        testMode: true,
        createdAt: 1_795_269_600_031,
      },
    ],
    nextCursor: exampleRideId,
  } satisfies Shape<typeof rideList>,
  rideEvents: { rideId: exampleRideId, events: [exampleEvent] } satisfies Shape<typeof rideEvents>,
  eventPage: {
    events: [exampleEvent],
    cursor: 'cur_0VbcGJ310Uw4cA1k9fZ3xQ7LmT2bVn8Y',
    hasMore: false,
  } satisfies Shape<typeof eventPage>,
  offerList: { rideId: exampleRideId, offers: [offer] } satisfies Shape<typeof offerList>,
  accepted: { success: true, rideId: exampleRideId, status: 'driver_arriving' } satisfies Shape<typeof accepted>,
  cancelled: { success: true, rideId: exampleRideId, status: 'cancelled' } satisfies Shape<typeof cancelled>,
  fareRaised: { success: true, rideId: exampleRideId, status: 'bidding', fare: 27 } satisfies Shape<typeof fareRaised>,
  offeredByHand: {
    success: true,
    rideId: exampleRideId,
    status: 'bidding',
    offerId: offer.offerId,
  } satisfies Shape<typeof offeredByHand>,
  stepTaken: (after: RideStatus): Shape<typeof stepTaken> => ({
    success: true,
    rideId: exampleRideId,
    status: after,
  }),
  fareHint: {
    carType: 'regular',
    distanceKm: 5.31,
    basis: 'sample',
    perKm: { lower: 3.6, median: 4.5, upper: 5.4 },
    fare: { lower: 19.12, median: 23.9, upper: 28.67 },
  } satisfies Shape<typeof fareHint>,
  serviceInformation: {
    name: 'Ride Partner API',
    version: 'v1',
    docs: 'https://rides.example/docs',
    endpoints: [
      'POST /rides',
      'GET /rides/:rideId',
      'GET /rides/:rideId/offers',
      'POST /rides/:rideId/accept',
      'POST /rides/:rideId/cancel',
    ],
    additionalEndpoints: ['GET /rides', 'GET /events'],
  } satisfies Shape<typeof serviceInformation>,
};
