import Joi from 'joi';
import type { Config } from '../../shared/base/config.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import type { Caller } from '../../shared/keys/find-caller.ts';
import type { CreationFields, NewRide } from '../../shared/rides/create-ride.ts';
import { exampleTrackUrl } from '../../shared/rides/event-schemas.ts';
import { partnerFields, trackUrl as trackUrlOf } from '../../shared/rides/events.ts';
import { fieldsIn, schemasIn } from '../../shared/rides/fields.ts';
import { biddingOpensAt, carType, fare, rideId, testMode, trackUrl } from '../../shared/rides/public-schemas.ts';
import { testScenarios } from '../../shared/rides/ride-types.ts';
import { acceptorOf } from '../http/accept-valid.ts';
import { inSteps } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import type { RequestContext } from '../part.ts';
import { newRideSchema, rideRequest } from '../rides/new-ride.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { distanceKm, exampleRideId } from './request-fields.ts';
import { warnOfRide } from './warnings.ts';

const { pickupAt, ...given } = schemasIn('creation');

const scenarioSchema = Joi.valid(...testScenarios)
  .meta({ openapi: { title: 'TestScenario' } })
  .label('X-Service-Test-Scenario')
  .description(
    'The scenario of a test ride ([all scenarios](https://rides.example/docs/test-mode#scenarios)). Ignored with a live key.',
  );

const idempotencyKeySchema = Joi.string()
  .max(255)
  .pattern(/^[\x21-\x7e]+$/, 'printable ASCII')
  .messages({ 'string.pattern.name': '{{#label}} must be {{#name}} without spaces' })
  .label('Idempotency-Key')
  .example(given.reference.examples[0])
  .description(
    'Identifies this creation: a repeat within 24 hours gets the same ride, not a new one. Printable ASCII without spaces.',
  );

const answer = objectSchema(
  {
    rideId,
    status: { const: 'bidding', type: 'string', description: 'A new ride waits for offers.' },
    fare,
    carType,
    distanceKm,
    trackUrl,
    pickupAt,
    biddingOpensAt,
    ...given,
    testMode,
  },
  { title: 'RideCreated', optional: [...fieldsIn('creation'), 'biddingOpensAt', 'testMode'] },
);

/** Contract, section 4.1. */
export const createRide: PartnerOperation = {
  id: 'createRide',
  method: 'POST',
  path: '/rides',
  summary: 'Create a ride',
  description:
    'Requests a ride at your fare. The ride is opened to nearby drivers. Their offers are sent as `offer.received` events and appear in the list of offers.\n\nSend an `Idempotency-Key`, so that you can repeat the request safely after a lost answer.',
  tag: 'rides',
  headers: { 'Idempotency-Key': idempotencyKeySchema, 'X-Service-Test-Scenario': scenarioSchema },
  body: {
    // The settings only decide which webhook URLs are allowed, so the documented schema is the same for all.
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
        passenger: { name: 'Sam Lee', phone: '+12025550178', locale: 'en-US' },
        notify: { passenger: true, contacts: [{ name: 'Kim Lee', phone: '+12025550144', locale: 'es' }] },
        notes: 'Two suitcases; waiting at the main entrance.',
        distanceKm: 6.2,
        webhookUrl: 'https://partner.example/rides/events',
        reference: 'booking-70133',
        metadata: { desk: 'lobby', room: '1204' },
        autoAccept: { maxPrice: 26, maxEtaMinutes: 8, waitSeconds: 20 },
        needs: ['child_seat', 'large_luggage'],
        pickupAt: 1_795_356_000_000,
        onDriverCancel: 'rebid',
      },
    },
  },
  answer: {
    ...answerOf(201, 'The ride is created and waits for offers.', answer, {
      rideId: exampleRideId,
      status: 'bidding',
      fare: 24.5,
      carType: 'regular',
      distanceKm: 5.31,
      trackUrl: exampleTrackUrl,
      testMode: true,
    }),
    headers: ['RateLimit', 'RateLimit-Policy', 'X-Service-Replayed'],
  },
  errors: ['payload_too_large', 'idempotency_conflict', 'ride_erased', 'rate_limited'],
  route: ({ service: { config }, findCaller, createRide: create }) =>
    inSteps(createRide, {
      authenticate: findCaller,
      validate: validateCreation(config),
      act: (ride, ctx) => create(ctx, ride),
      present: (ride) => present(config, ride),
      headers: ({ isReplay }): Record<string, string> => (isReplay ? { 'X-Service-Replayed': 'true' } : {}),
    }),
};

/** Validates the body, the Idempotency-Key and the test scenario. Throws a 400, 408 or 413. */
function validateCreation(config: Config) {
  const schema = newRideSchema(config);
  const body = bodyOf(schema, acceptorOf(schema));
  return async (ctx: RequestContext, key: Caller): Promise<NewRide> => {
    const request = rideRequest(await body(ctx));
    warnOfRide(ctx, request);
    const { 'idempotency-key': idempotencyKey, 'x-service-test-scenario': scenario } = ctx.headers;
    return {
      key,
      request,
      origin: originOf(ctx),
      ...(idempotencyKey !== undefined && { idempotencyKey: validate(idempotencyKeySchema, idempotencyKey) }),
      // A live key ignores the header: its rides have no simulated driver.
      ...(scenario !== undefined && key.mode === 'test' && { scenario: validate(scenarioSchema, scenario) }),
    };
  };
}

/** A replay gets the first response again, so the status is always `bidding`. */
function present({ trackBaseUrl }: Config, found: CreationFields): Shape<typeof answer> {
  const ride = { ...found, ...withoutNull(found.firstTerms) };
  return {
    rideId: ride._id,
    status: 'bidding',
    fare: ride.firstFare ?? ride.fare,
    carType: ride.carType,
    distanceKm: ride.distanceKm,
    trackUrl: trackUrlOf(trackBaseUrl, ride),
    ...partnerFields('creation', ride),
  };
}

/** A field that was absent at creation is stored as null once it has changed. */
const withoutNull = (terms: object = {}): object =>
  Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, value ?? undefined]));
