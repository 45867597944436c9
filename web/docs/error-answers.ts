import type { ErrorCode } from '../../shared/base/errors.ts';
import type { AnswerHeader } from './answer-headers.ts';

interface ErrorAnswer {
  /** The cause, as Markdown in a single paragraph. */
  cause: string;
  headers?: readonly AnswerHeader[];
  /** Example texts, in addition to the text in shared/base/errors.ts. */
  texts?: readonly string[];
}

/** The errors that partners and drivers can get. Statuses and texts are in shared/base/errors.ts. */
export const errorAnswers: Readonly<Partial<Record<ErrorCode, ErrorAnswer>>> = {
  invalid_request: {
    cause: 'A field, a header or the body is missing or wrong. The text names the first fault.',
    headers: ['X-Service-Error-Field', 'X-Service-Errors'],
    texts: ['pickup.lat is required', 'fare must be greater than 0'],
  },
  unauthorized: {
    cause: 'The key is missing or unknown, or it was rotated or revoked.',
    headers: ['WWW-Authenticate'],
  },
  https_required: { cause: 'The request did not use HTTPS, so the key was sent unencrypted: rotate it.' },
  live_ride: { cause: 'The key is a live key: real drivers drive its rides.' },
  not_found: { cause: 'The path does not exist.' },
  ride_not_found: { cause: 'The ride does not exist, or it belongs to another key.' },
  offer_not_found: { cause: 'The ride has never had an offer with this id.' },
  event_not_found: { cause: 'The ride has no event with this number.' },
  endpoint_not_found: { cause: 'The key has no further endpoint with this id.' },
  method_not_allowed: { cause: 'The path does not support this method.' },
  request_timeout: { cause: 'The request took more than 12 seconds to arrive.' },
  ride_not_bidding: { cause: 'An offer is accepted, or the ride has ended.' },
  bidding_not_open: { cause: 'The ride is for later, and its bidding has not opened.' },
  bidding_over: { cause: 'The bidding time has passed: the ride is about to be cancelled.' },
  offer_withdrawn: { cause: 'The driver has withdrawn the offer.' },
  fare_not_higher: { cause: 'The fare is below the current one.' },
  driver_busy: { cause: 'Another partner has just accepted an offer of this driver.' },
  offer_exists: { cause: 'Withdraw your offer on this ride before you make another.' },
  driver_offers_full: { cause: 'You have made 3 offers on this ride. Withdrawn offers count.' },
  offers_full: { cause: 'The ride already has 50 offers.' },
  equipment_missing: {
    cause: 'The ride has needs that are not in your `equipment`, or more passengers than your car has seats.',
  },
  endpoints_full: { cause: 'Delete an endpoint first: the default URL counts too.' },
  not_sent_yet: { cause: 'The event waits for its own attempt.' },
  no_webhook_url: { cause: 'The event has no address to which it could be sent.' },
  body_erased: { cause: 'The body was erased 30 days after the end of the ride.' },
  ride_erased: { cause: 'The personal data of the ride was erased before its creation was repeated.' },
  on_a_ride: { cause: 'You were chosen for a ride that has not ended.' },
  not_own_ride: { cause: 'You were chosen for another ride, or for none.' },
  no_driver: { cause: 'No offer is accepted, so there is nobody to read a message.' },
  messages_full: { cause: 'You have sent 10 messages to the driver of this ride.' },
  wrong_pin: { cause: 'The ride has a PIN, and the request has none or another one.' },
  pin_locked: { cause: 'Five wrong PINs were given within 10 minutes. The right one is refused too until then.' },
  illegal_step: { cause: 'Another step comes first, or the ride has ended.' },
  ride_ended: { cause: 'The ride is completed or cancelled, perhaps by your first request.' },
  idempotency_conflict: {
    cause: 'The same Idempotency-Key was used within 24 hours with other fields or another scenario.',
  },
  payload_too_large: { cause: 'The body is larger than 16,384 bytes.' },
  rate_limited: {
    cause: 'The key has created 30 rides within 60 seconds, or 300 within an hour.',
    headers: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
    texts: [
      'Rate limit exceeded: at most 30 rides in 60 seconds for each key',
      'Rate limit exceeded: at most 300 rides in an hour for each key',
      'Rate limit exceeded: the test scenario refuses the first request',
    ],
  },
  too_many_waiting: {
    cause: '200 requests of this key or 1,000 of its account are already waiting, or the service is at its limit.',
    headers: ['Retry-After'],
    texts: [
      'Too many requests are waiting for events: at most 200 for each key',
      'Too many requests are waiting for events: at most 1000 for each account',
    ],
  },
  too_many_streams: {
    cause: 'You have five open streams, or the service is at its limit.',
    headers: ['Retry-After'],
    texts: ['Too many open streams: at most 5 for each driver'],
  },
  headers_too_large: { cause: 'The headers are larger than 16 kB.' },
  internal: { cause: 'A fault on our side.' },
  unavailable: { cause: 'The service cannot answer right now.', headers: ['Retry-After'] },
};

/** The kind of client that calls an operation, and so the kind of its key. */
export type Audience = 'partner' | 'driver';

/** The texts for drivers, for errors whose texts differ from those for partners. */
const driverErrorAnswers: Partial<Record<ErrorCode, Partial<ErrorAnswer>>> = {
  invalid_request: { texts: ['lat is required', 'price must be greater than 0'] },
  unauthorized: { cause: 'The key is missing or unknown, or it was rotated, suspended or revoked.' },
  ride_not_found: { cause: 'The ride does not exist, or it was not opened to you.' },
  offer_not_found: { cause: 'You have never made an offer with this id.' },
  ride_ended: { cause: 'The ride is completed, or another party has cancelled it.' },
};

/** The documentation of an error for an audience. Throws if `errorAnswers` lacks the error. */
export function errorAnswer(code: ErrorCode, audience: Audience): ErrorAnswer {
  const answer = errorAnswers[code];
  if (!answer) throw new Error(`errorAnswers lacks ${code}`);
  return { ...answer, ...(audience === 'driver' && driverErrorAnswers[code]) };
}

/**
 * Errors that occur before the body is read, so their responses cannot list ignored fields. All other responses to
 * partners can.
 */
export const errorsBeforeBody: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'https_required',
  'live_ride',
  'request_timeout',
  'headers_too_large',
  'payload_too_large',
]);

/** The errors of every operation. */
export const commonErrors = [
  'invalid_request',
  'unauthorized',
  'https_required',
  'request_timeout',
  'headers_too_large',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[];
