import type { HandStep, plainHandSteps } from '../../shared/rides/manual-steps.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import type { DocumentedError } from '../docs/error-answers.ts';
import type { Operation } from '../docs/operation.ts';
import {
  accepted,
  cancelled,
  eventPage,
  examples,
  fareHint as fareHintAnswer,
  fareRaised,
  offeredByHand,
  offerList,
  ride,
  rideCreated,
  rideEvents,
  rideList,
  serviceInformation as serviceInformationSchema,
  stepTaken,
} from './answers.ts';
import {
  acceptSchema,
  fareHintSchema,
  fareSchema,
  feedSchema,
  handOfferSchema,
  idempotencyKeySchema,
  listSchema,
  newRideSchema,
  rideEventsSchema,
  scenarioSchema,
} from './schemas.ts';

/** What the documentation says of each route (contract, sections 4 and 10). */

export const createRide: Operation<'POST'> = {
  id: 'createRide',
  method: 'POST',
  path: '/rides',
  summary: 'Create a ride',
  description:
    'Asks for a trip at the fare that you name. The ride is offered to drivers nearby, and their offers come as `offer.received` events and in the list of offers.\n\nSend an `Idempotency-Key`, so that you can repeat the request safely after a lost answer.',
  tag: 'rides',
  headers: { 'Idempotency-Key': idempotencyKeySchema, 'X-Service-Test-Scenario': scenarioSchema },
  body: {
    // The settings decide which webhook URLs are allowed, not which form they have.
    schema: newRideSchema({ environment: 'production', webhookLocalTargets: [] }),
    examples: {
      'The required fields': {
        pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
        destination: { lat: 40.7128, lng: -74.006 },
        fare: 24.5,
      },
      'All fields': {
        pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
        destination: { lat: 40.7128, lng: -74.006, address: 'City Hall' },
        fare: 24.5,
        carType: 'family',
        rideType: 'standard',
        passengerCount: 4,
        passenger: { name: 'Sam Lee', phone: '+12025550178' },
        notes: 'Two suitcases; waiting at the main entrance.',
        distanceKm: 6.2,
        webhookUrl: 'https://partner.example/rides/events',
        reference: 'booking-70133',
        metadata: { desk: 'lobby', room: '1204' },
        autoAccept: { maxPrice: 26, maxEtaMinutes: 8 },
      },
    },
  },
  answer: {
    status: 201,
    description: 'The ride is made and waits for offers.',
    schema: rideCreated,
    headers: ['RateLimit', 'RateLimit-Policy', 'X-Service-Ignored-Fields'],
    example: examples.rideCreated,
  },
  errors: ['payload_too_large', 'idempotency_conflict', 'rate_limited'],
};

export const listRides: Operation<'GET'> = {
  id: 'listRides',
  method: 'GET',
  path: '/rides',
  summary: 'List your rides',
  description:
    'Lists the rides of this key, the newest first. An empty parameter counts as absent, and an unknown one is ignored. How pages follow each other: [Find your rides](https://rides.example/docs/rides#pages).',
  tag: 'rides',
  query: listSchema,
  answer: { status: 200, description: 'A page of rides.', schema: rideList, example: examples.rideList },
  errors: [],
};

export const retrieveRide: Operation<'GET'> = {
  id: 'retrieveRide',
  method: 'GET',
  path: '/rides/:rideId',
  summary: 'Retrieve a ride',
  description: 'Shows the ride as it is now. You may poll it.',
  tag: 'rides',
  answer: { status: 200, description: 'The ride.', schema: ride, example: examples.ride },
  errors: ['ride_not_found'],
};

export const listOffers: Operation<'GET'> = {
  id: 'listOffers',
  method: 'GET',
  path: '/rides/:rideId/offers',
  summary: 'List the offers',
  description:
    'Lists the offers of a ride, the cheapest first; of equal prices the one with the shorter ETA first. You may poll it while the ride is `bidding`.',
  tag: 'rides',
  answer: { status: 200, description: 'The offers.', schema: offerList, example: examples.offerList },
  errors: ['ride_not_found'],
};

export const acceptOffer: Operation<'POST'> = {
  id: 'acceptOffer',
  method: 'POST',
  path: '/rides/:rideId/accept',
  summary: 'Accept an offer',
  description:
    'Takes one offer: its driver is dispatched, all other offers are dropped, and the ride becomes `driver_arriving`.\n\nAccepting the accepted offer again is a 200 that changes nothing, until the ride has ended. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema: acceptSchema, examples: { 'An offer': { offerId: examples.offerList.offers[0]?.offerId } } },
  answer: {
    status: 200,
    description: 'The offer is accepted.',
    schema: accepted,
    headers: ['X-Service-Ignored-Fields'],
    example: examples.accepted,
  },
  errors: [
    'ride_not_found',
    'offer_not_found',
    'ride_not_bidding',
    'bidding_over',
    'offer_withdrawn',
    'driver_busy',
    'payload_too_large',
  ],
};

export const raiseFare: Operation<'POST'> = {
  id: 'raiseFare',
  method: 'POST',
  path: '/rides/:rideId/fare',
  summary: 'Raise the fare',
  description:
    'Raises the fare of a ride that is `bidding`. Drivers who were asked see it at once; offers that were made stay as they are.\n\nThe fare that the ride has already is a 200 that changes nothing. So you can repeat the request after a lost answer.',
  tag: 'rides',
  body: { schema: fareSchema, examples: { 'A fare': { fare: 27 } } },
  answer: {
    status: 200,
    description: 'The ride has this fare.',
    schema: fareRaised,
    headers: ['X-Service-Ignored-Fields'],
    example: examples.fareRaised,
  },
  errors: ['ride_not_found', 'ride_not_bidding', 'bidding_over', 'fare_not_higher', 'payload_too_large'],
};

export const fareHint: Operation<'GET'> = {
  id: 'fareHint',
  method: 'GET',
  path: '/fare-hint',
  summary: 'Ask what fares come to',
  description:
    'Says what completed live rides from near the pickup cost per km in the last 28 days. A test key gets a fixed sample. Which trips these are, and what `basis` means: [Set a fare](https://rides.example/docs/fares#what-fares-come-to).',
  tag: 'rides',
  query: fareHintSchema,
  answer: {
    status: 200,
    description: 'The hint, or `null` in its place.',
    schema: fareHintAnswer,
    example: examples.fareHint,
  },
  errors: [],
};

export const cancelRide: Operation<'POST'> = {
  id: 'cancelRide',
  method: 'POST',
  path: '/rides/:rideId/cancel',
  summary: 'Cancel a ride',
  description: 'Ends a ride that is not completed or cancelled. It takes no body; whatever is sent is not read.',
  tag: 'rides',
  answer: { status: 200, description: 'The ride is cancelled.', schema: cancelled, example: examples.cancelled },
  errors: ['ride_not_found', 'ride_ended'],
};

export const listRideEvents: Operation<'GET'> = {
  id: 'listRideEvents',
  method: 'GET',
  path: '/rides/:rideId/events',
  summary: 'List the events of a ride',
  description:
    'Lists the events of a ride by their number. The same events are sent to your webhook URL; reading takes nothing away.',
  tag: 'feed',
  query: rideEventsSchema,
  answer: { status: 200, description: 'The events, perhaps none.', schema: rideEvents, example: examples.rideEvents },
  errors: ['ride_not_found', 'too_many_waiting'],
};

export const listEvents: Operation<'GET'> = {
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  summary: 'Read the event feed',
  description:
    'Lists the events of all rides of this key, each 3 to 4 seconds after it happened. Keep the `cursor` of each answer, and go on from there with `after`: no event is skipped, and none comes twice.\n\nHow to catch up after an outage: [Webhooks](https://rides.example/docs/webhooks#when-you-missed-one).',
  tag: 'feed',
  query: feedSchema,
  answer: {
    status: 200,
    description: 'A page of events, perhaps an empty one.',
    schema: eventPage,
    example: examples.eventPage,
  },
  errors: ['too_many_waiting'],
};

const byHand = (
  step: HandStep['step'],
  about: Pick<Operation, 'summary' | 'description' | 'answer' | 'body' | 'errors'>,
): Operation<'POST'> => ({
  ...about,
  id: `${step}ByHand`,
  method: 'POST',
  path: `/test/rides/:rideId/${step}`,
  tag: 'byHand',
  errors: ['live_ride', 'ride_not_found', ...about.errors],
});

const plainStep = (
  step: (typeof plainHandSteps)[number],
  after: RideStatus,
  { errors, ...about }: { summary: string; description: string; errors: readonly DocumentedError[] },
): Operation<'POST'> =>
  byHand(step, {
    ...about,
    description: `${about.description} A body is not read.`,
    answer: {
      status: 200,
      description: 'The step is taken.',
      schema: stepTaken,
      example: examples.stepTaken(after),
    },
    errors,
  });

/** The steps in a test ride by hand (contract, section 10.4). */
export const handSteps: Readonly<Record<HandStep['step'], Operation<'POST'>>> = {
  offer: byHand('offer', {
    summary: 'Make an offer by hand',
    description:
      "Makes an offer of a simulated driver. Without a body, or where a field is missing, price and ETA are those of the ride's scenario. How stepping and scenarios go together: [Be the driver](https://rides.example/docs/test-mode#be-the-driver).",
    body: {
      schema: handOfferSchema,
      examples: { 'An offer': { price: 26, etaMinutes: 4 }, 'As the scenario says': {} },
      isOptional: true,
    },
    answer: {
      status: 200,
      description: 'The offer is made.',
      schema: offeredByHand,
      headers: ['X-Service-Ignored-Fields'],
      example: examples.offeredByHand,
    },
    errors: ['ride_not_bidding', 'bidding_over', 'offers_full', 'payload_too_large'],
  }),
  withdraw: byHand('withdraw', {
    summary: 'Withdraw an offer by hand',
    description: 'Takes an offer back, as its driver would. There is no event.',
    body: { schema: acceptSchema, examples: { 'An offer': { offerId: examples.offerList.offers[0]?.offerId } } },
    answer: {
      status: 200,
      description: 'The offer is withdrawn.',
      schema: stepTaken,
      headers: ['X-Service-Ignored-Fields'],
      example: examples.stepTaken('bidding'),
    },
    errors: ['offer_not_found', 'ride_not_bidding', 'offer_withdrawn', 'payload_too_large'],
  }),
  arrive: plainStep('arrive', 'arrived', {
    summary: 'Arrive by hand',
    description: 'The driver is at the pickup.',
    errors: ['illegal_step'],
  }),
  start: plainStep('start', 'in_progress', {
    summary: 'Start by hand',
    description: 'The passenger is in the car.',
    errors: ['illegal_step'],
  }),
  complete: plainStep('complete', 'completed', {
    summary: 'Complete by hand',
    description: 'The passenger has left the car.',
    errors: ['illegal_step'],
  }),
  cancel: plainStep('cancel', 'cancelled', {
    summary: 'Cancel by hand',
    description: 'The driver cancels the ride. Before it has a driver there are only offers to withdraw.',
    errors: ['illegal_step', 'ride_ended'],
  }),
  expire: plainStep('expire', 'cancelled', {
    summary: 'Let the time pass by hand',
    description: "The time for the ride's status is over, and the ride is cancelled.",
    errors: ['ride_ended'],
  }),
};

export const serviceInformation: Operation<'GET'> = {
  id: 'serviceInformation',
  method: 'GET',
  path: '/',
  summary: 'Service information',
  description: 'Says which service this is. A good first request with a new key.',
  tag: 'service',
  answer: {
    status: 200,
    description: 'The service.',
    schema: serviceInformationSchema,
    example: examples.serviceInformation,
  },
  errors: [],
};

/** The five operations of the contract (sections 1 and 2.6). All others are additions (section 10). */
export const contractOperations: readonly Operation[] = [createRide, retrieveRide, listOffers, acceptOffer, cancelRide];

/** In the order of the reference. Every route of `partnerRoutes` is here, and nothing else. */
export const partnerOperations: readonly Operation[] = [
  createRide,
  listRides,
  retrieveRide,
  listOffers,
  acceptOffer,
  raiseFare,
  cancelRide,
  fareHint,
  listEvents,
  listRideEvents,
  ...Object.values(handSteps),
  serviceInformation,
];
