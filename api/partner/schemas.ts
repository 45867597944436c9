import Joi from 'joi';
import type { Config } from '../../shared/base/config.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { type CarType, carTypes } from '../../shared/base/terms.ts';
import {
  type AutoAccept,
  type Location,
  type RideStatus,
  rideStatuses,
  rideTypes,
  testScenarios,
} from '../../shared/rides/ride-types.ts';
import { checkGivenTarget } from '../../shared/targets/given-target.ts';
import { latitude, longitude } from '../http/coordinates.ts';
import { cursorForm } from './cursor.ts';

/** For an optional field, `null` counts as absent; an empty text is allowed. */
const text = Joi.string()
  .allow('')
  .empty(null)
  .custom((value: string, helpers) => (value.isWellFormed() ? value : helpers.error('text.form')))
  // A string of JSON Schema is always well-formed Unicode.
  .meta({ openapi: {} })
  .messages({ 'text.form': '{{#label}} must be well-formed Unicode' });

const location = Joi.object<Location>({
  lat: latitude,
  lng: longitude,
  address: text.description('Shown to the driver.'),
});

/** A text of so many code points. */
const textUpTo = (length: number) =>
  text
    .custom((value: string, helpers) => ([...value].length > length ? helpers.error('text.length') : value))
    .meta({ openapi: { maxLength: length } })
    .messages({ 'text.length': `{{#label}} must be at most ${length} characters` });

/** An empty one counts as absent: nothing could be found by it. */
const reference = textUpTo(64).empty(Joi.valid(null, ''));

const metadataName = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;
const metadata = Joi.object()
  .pattern(/^/, textUpTo(100))
  .max(20)
  .empty(null)
  .custom((value: object, helpers) =>
    Object.keys(value).every((name) => metadataName.test(name)) ? value : helpers.error('metadata.name'),
  )
  .meta({ openapi: { propertyNames: { pattern: metadataName.source } } })
  .messages({
    'object.max': '{{#label}} must have at most 20 entries',
    'metadata.name':
      'Each name in {{#label}} must be a letter and up to 39 more letters, digits, underscores and dashes',
  });

/** US dollars. */
const money = Joi.number().greater(0);
const etaMinutes = Joi.number().min(0).max(1_440).empty(null);

/** The body of a creation (contract, section 4.1). A field that is not listed here is ignored and never stored. */
export function newRideSchema(config: Pick<Config, 'environment' | 'webhookLocalTargets'>) {
  return Joi.object({
    pickup: location.required().description('Where the ride begins.'),
    destination: location.required().description('Where it ends; may equal the pickup.'),
    fare: money.required().description('What you offer to pay, in USD. Drivers take it or ask for more.'),
    carType: Joi.valid(...carTypes)
      .empty(null)
      .default('regular')
      .description('The kind of car.'),
    rideType: Joi.valid(...rideTypes)
      .empty(null)
      .default('standard')
      .description('Within a city, or between cities.'),
    passengerCount: Joi.number().integer().min(1).max(7).empty(null).default(1).description('How many people ride.'),
    distanceKm: Joi.number()
      .min(0)
      .empty(null)
      .description('Length of the trip. Without it: the great-circle distance, to two decimals.'),
    passenger: Joi.object({ name: text.description('Their name.'), phone: text.description('Their phone number.') })
      .empty(null)
      .description('Tells the driver whom to look for.'),
    notes: textUpTo(200).description('A note to the driver.'),
    reference: reference.description(
      'Your own name for the ride, such as the number of a booking. Rides can be listed by it; it need not be unique.',
    ),
    metadata: metadata.description(
      'Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes.',
    ),
    autoAccept: Joi.object<AutoAccept>({
      maxPrice: money.required().description('What it may cost at most, in USD.'),
      maxEtaMinutes: etaMinutes.description('How far away the driver may be, in minutes. Without it: any.'),
    })
      .empty(null)
      .description('The first offer within these bounds is accepted by itself.'),
    webhookUrl: Joi.string()
      .empty(null)
      .custom((value: string, helpers) => {
        const refusal = value.isWellFormed() ? checkGivenTarget(config, value) : 'must be well-formed Unicode';
        return refusal ? helpers.error('target.refused', { refusal }) : value;
      })
      .meta({ openapi: { format: 'uri', pattern: '^https://', maxLength: 2048 } })
      .messages({ 'target.refused': '{{#label}} {{#refusal}}' })
      .description("Where this ride's events go, instead of the key's default URL. HTTPS, to a public address."),
  })
    .required()
    .meta({ openapi: { title: 'NewRide' } })
    .label('The request body');
}

/** Unix ms, up to the year 5138. */
const time = Joi.number().integer().min(0).max(99_999_999_999_999).empty('');
const limit = Joi.number().integer().min(1).max(100).empty('');
/** The form of a cursor may change: the documentation does not say it. */
const opaque = Joi.string().empty('').meta({ isOpaque: true });

interface ListQuery {
  status?: RideStatus;
  createdAfter?: number;
  createdBefore?: number;
  reference?: string;
  limit: number;
  cursor?: string;
}

/** The query of the list of rides. */
export const listSchema = Joi.object<ListQuery>({
  status: Joi.valid(...rideStatuses)
    .empty('')
    .description('Only rides with this status.'),
  createdAfter: time.description('Only rides that were created at this time or later, as Unix time in milliseconds.'),
  createdBefore: time.description('Only rides that were created before this time, as Unix time in milliseconds.'),
  reference: reference.description('Only rides with exactly this reference.'),
  limit: limit.default(20).description('How many rides a page has.'),
  cursor: opaque
    .pattern(/^ride_[0-9A-Za-z]{24}$/)
    .messages({ 'string.pattern.base': '{{#label}} must be the nextCursor of an earlier answer' })
    .description('The `nextCursor` of the page before. Without it: the first page.'),
});

const waitSeconds = Joi.number()
  .integer()
  .min(0)
  .max(30)
  .empty('')
  .default(0)
  .description('How long the answer may wait until there is an event, in seconds.');

/** The query of the event feed. */
export const feedSchema = Joi.object<{ after?: string; limit: number; waitSeconds: number }>({
  after: opaque
    .pattern(cursorForm)
    .messages({ 'string.pattern.base': '{{#label}} must be the cursor of an earlier answer, or now' })
    .description(
      'The `cursor` of an earlier answer, or `now` to begin with this moment. Without it: the first event ever.',
    ),
  limit: limit.default(100).description('How many events a page has.'),
  waitSeconds,
});

/** The query of the events of a ride. */
export const rideEventsSchema = Joi.object<{ after: number; waitSeconds: number }>({
  after: Joi.number().integer().min(0).empty('').default(0).description('Only events with a higher `seq`.'),
  waitSeconds,
});

export const acceptSchema = Joi.object({
  offerId: Joi.string().required().description('From the list of offers.'),
})
  .required()
  .meta({ openapi: { title: 'AcceptOffer' } })
  .label('The request body');

/** The body of a raise of the fare. */
export const fareSchema = Joi.object<{ fare: number }>({
  fare: money.required().description('The new fare, in USD: not below the present one.'),
})
  .required()
  .meta({ openapi: { title: 'RaiseFare' } })
  .label('The request body');

/** The body of an offer by hand in a test ride. */
export const handOfferSchema = Joi.object<{ price?: number; etaMinutes?: number }>({
  price: money.empty(null).description("What the driver asks, in USD. Without it: what the ride's scenario says."),
  etaMinutes: etaMinutes.description('Minutes until the driver can be at the pickup.'),
})
  .required()
  .meta({ openapi: { title: 'HandOffer' } })
  .label('The request body');

const pointForm = /^(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)$/;

/** `lat,lng` in a query. */
const point = (example: string) =>
  Joi.string()
    .required()
    .custom((value: string, helpers) => {
      const [, lat, lng] = pointForm.exec(value) ?? [];
      const place = { lat: Number(lat), lng: Number(lng) };
      return Math.abs(place.lat) <= 90 && Math.abs(place.lng) <= 180 ? place : helpers.error('point.form');
    })
    .meta({ openapi: { pattern: pointForm.source } })
    .messages({ 'point.form': '{{#label}} must be a latitude and a longitude, such as 40.758,-73.9855' })
    .example(example);

/** The query of the fare hint. */
export const fareHintSchema = Joi.object<{ pickup: Point; destination: Point; carType: CarType }>({
  pickup: point('40.758,-73.9855').description('Where the ride would begin: latitude and longitude in degrees.'),
  destination: point('40.7128,-74.006').description('Where it would end.'),
  carType: Joi.valid(...carTypes)
    .empty('')
    .default('regular')
    .description('The kind of car.'),
});

export const scenarioSchema = Joi.valid(...testScenarios)
  .label('X-Service-Test-Scenario')
  .description(
    'The course of a test ride ([all scenarios](https://rides.example/docs/test-mode#scenarios)). A live key ignores it.',
  );

export const idempotencyKeySchema = Joi.string()
  .max(255)
  .pattern(/^[\x21-\x7e]+$/, 'printable ASCII')
  .messages({ 'string.pattern.name': '{{#label}} must be {{#name}} without spaces' })
  .label('Idempotency-Key')
  .description(
    'Names this creation: a repeat within 24 hours gets the same ride, not a second one. Printable ASCII without spaces.',
  );
