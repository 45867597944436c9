import type { DriverStep } from '../../shared/rides/driver/driver-actions.ts';
import type { DocumentedError } from '../docs/error-answers.ts';
import type { Operation } from '../docs/operation.ts';
import { availability, examples, offerMade, outcome, ownRide, profile, requestList, stepTaken } from './answers.ts';
import { offerSchema, placeSchema, reportSchema, stepSchema } from './schemas.ts';

/** What the documentation says of each route of the drivers' gateway. */

export const showProfile: Operation<'GET'> = {
  id: 'showDriver',
  method: 'GET',
  path: '/me',
  summary: 'Show yourself',
  description: 'Says who you are to partners, where you were last, and whether rides are opened to you.',
  tag: 'driver',
  answer: { status: 200, description: 'The driver.', schema: profile, example: examples.profile },
  errors: [],
};

const place = { lat: 40.7614, lng: -73.9776 };

export const goOnline: Operation<'POST'> = {
  id: 'goOnline',
  method: 'POST',
  path: '/me/online',
  summary: 'Go online',
  description: 'From now on rides near this place are opened to you, as long as you report where you are.',
  tag: 'driver',
  body: { schema: placeSchema, examples: { 'A place': place } },
  answer: {
    status: 200,
    description: 'Online. `available` is `false` only while you are on a ride.',
    schema: availability,
    example: examples.online,
  },
  errors: ['payload_too_large'],
};

export const goOffline: Operation<'POST'> = {
  id: 'goOffline',
  method: 'POST',
  path: '/me/offline',
  summary: 'Go offline',
  description:
    'No further ride is opened to you. A ride that you are on goes on, and your offers stand. It takes no body.',
  tag: 'driver',
  answer: { status: 200, description: 'Offline.', schema: availability, example: examples.offline },
  errors: [],
};

export const reportPosition: Operation<'PUT'> = {
  id: 'reportPosition',
  method: 'PUT',
  path: '/me/position',
  summary: 'Report your position',
  description:
    'Says where you are; do it every few seconds. A report whose `at` is older than that of the last one leaves the position as it is, but counts as heard. After 60 seconds of silence no ride is opened to you until the next report.',
  tag: 'driver',
  body: {
    schema: reportSchema,
    examples: { 'Here and now': { ...place, heading: 210 }, 'A moment ago': { ...place, at: 1_795_269_600_402 } },
  },
  answer: { status: 204, description: 'Noted.' },
  errors: ['payload_too_large'],
};

export const listRequests: Operation<'GET'> = {
  id: 'listRequests',
  method: 'GET',
  path: '/requests',
  summary: 'List the requests',
  description: 'Lists the rides that are open to you. They have no addresses: these are for the driver who is chosen.',
  tag: 'requests',
  answer: { status: 200, description: 'The requests.', schema: requestList, example: examples.requests },
  errors: [],
};

export const showOutcome: Operation<'GET'> = {
  id: 'showOutcome',
  method: 'GET',
  path: '/requests/:rideId',
  summary: 'Show what became of a request',
  description:
    "Says how a ride went on that was opened to you, also after it left the list. Of another driver's ride it says no more than that.",
  tag: 'requests',
  answer: { status: 200, description: 'How the ride went on.', schema: outcome, example: examples.outcome },
  errors: ['ride_not_found'],
};

export const makeOffer: Operation<'POST'> = {
  id: 'makeOffer',
  method: 'POST',
  path: '/requests/:rideId/offers',
  summary: 'Make an offer',
  description:
    'Offers to drive at your price. You can have one live offer on a ride. Withdraw it to make another; you can make at most 3 offers on a ride, withdrawn ones included.',
  tag: 'requests',
  body: { schema: offerSchema, examples: { 'An offer': { price: 26, etaMinutes: 4 } } },
  answer: { status: 201, description: 'The offer is made.', schema: offerMade, example: examples.offerMade },
  errors: [
    'ride_not_found',
    'ride_not_bidding',
    'bidding_over',
    'offer_exists',
    'driver_offers_full',
    'offers_full',
    'on_a_ride',
    'payload_too_large',
  ],
};

export const withdrawOffer: Operation<'DELETE'> = {
  id: 'withdrawOffer',
  method: 'DELETE',
  path: '/requests/:rideId/offers/:offerId',
  summary: 'Withdraw an offer',
  description: 'Takes your offer back. Once more does nothing and is a 204 too.',
  tag: 'requests',
  answer: { status: 204, description: 'The offer is withdrawn.' },
  errors: ['ride_not_found', 'offer_not_found', 'ride_not_bidding'],
};

export const showOwnRide: Operation<'GET'> = {
  id: 'showOwnRide',
  method: 'GET',
  path: '/ride',
  summary: 'Show your ride',
  description: 'Shows the ride that you were chosen for, with addresses, passenger and notes, until it ends.',
  tag: 'trip',
  answer: { status: 200, description: 'The ride, or none.', schema: ownRide, example: examples.own },
  errors: [],
};

const repeated =
  'A step that you took on this ride before gets the same answer and changes nothing, also after its end. So after a lost answer, send it again.';

const step = (
  name: DriverStep,
  summary: string,
  description: string,
  status: 'arrived' | 'in_progress' | 'completed' | 'cancelled',
  error: DocumentedError = 'illegal_step',
): Operation<'POST'> => ({
  id: `${name}Step`,
  method: 'POST',
  path: `/ride/${name}`,
  summary,
  description: `${description}\n\n${repeated}`,
  tag: 'trip',
  body: { schema: stepSchema, examples: { 'Your ride': { rideId: examples.own.ride?.rideId } } },
  answer: {
    status: 200,
    description: 'The step is taken.',
    schema: stepTaken,
    example: { rideId: examples.own.ride?.rideId, status },
  },
  errors: ['not_own_ride', error, 'payload_too_large'],
});

export const steps: Readonly<Record<DriverStep, Operation<'POST'>>> = {
  arrive: step('arrive', 'Arrive', 'You are at the pickup.', 'arrived'),
  start: step('start', 'Start the trip', 'The passenger is in the car.', 'in_progress'),
  complete: step('complete', 'Complete the trip', 'The passenger has left the car.', 'completed'),
  cancel: step(
    'cancel',
    'Give up the ride',
    'Cancels the ride for everybody: no other driver is asked.',
    'cancelled',
    'ride_ended',
  ),
};

export const stream: Operation<'GET'> = {
  id: 'streamDriver',
  method: 'GET',
  path: '/stream',
  summary: 'Follow requests and ride',
  description:
    'Server-sent events `requests` (the answer of List the requests) and `ride` (the answer of Show your ride): both at the start, then each within a second of a change. After a lost connection open a new stream: it begins with how things are.',
  tag: 'trip',
  answer: {
    status: 200,
    description: 'A stream that goes on until you close it, or until your key is rotated, suspended or revoked.',
    mediaType: 'text/event-stream',
    schema: { type: 'string' },
    example: examples.stream,
  },
  errors: ['too_many_streams'],
};

/** In the order of the reference. Every route of the gateway is here, and nothing else. */
export const driverOperations: readonly Operation[] = [
  showProfile,
  goOnline,
  goOffline,
  reportPosition,
  listRequests,
  showOutcome,
  makeOffer,
  withdrawOffer,
  showOwnRide,
  steps.arrive,
  steps.start,
  steps.complete,
  steps.cancel,
  stream,
];
