import Joi from 'joi';
import { type CarType, carTypes } from '../../shared/car-types.ts';
import type { Config } from '../../shared/config.ts';
import type { Point } from '../../shared/haversine.ts';
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
  .messages({ 'text.form': '{{#label}} must be well-formed Unicode' });

const location = Joi.object<Location>({ lat: latitude, lng: longitude, address: text });

/** A text of so many code points. */
const textUpTo = (length: number) =>
  text
    .custom((value: string, helpers) => ([...value].length > length ? helpers.error('text.length') : value))
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
    pickup: location.required(),
    destination: location.required(),
    fare: money.required(),
    carType: Joi.valid(...carTypes)
      .empty(null)
      .default('regular'),
    rideType: Joi.valid(...rideTypes)
      .empty(null)
      .default('standard'),
    passengerCount: Joi.number().integer().min(1).max(7).empty(null).default(1),
    distanceKm: Joi.number().min(0).empty(null),
    passenger: Joi.object({ name: text, phone: text }).empty(null),
    notes: textUpTo(200),
    reference,
    metadata,
    autoAccept: Joi.object<AutoAccept>({ maxPrice: money.required(), maxEtaMinutes: etaMinutes }).empty(null),
    webhookUrl: Joi.string()
      .empty(null)
      .custom((value: string, helpers) => {
        const refusal = value.isWellFormed() ? checkGivenTarget(config, value) : 'must be well-formed Unicode';
        return refusal ? helpers.error('target.refused', { refusal }) : value;
      })
      .messages({ 'target.refused': '{{#label}} {{#refusal}}' }),
  })
    .required()
    .label('The request body');
}

/** Unix ms, up to the year 5138. */
const time = Joi.number().integer().min(0).max(99_999_999_999_999).empty('');
const limit = Joi.number().integer().min(1).max(100).empty('');

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
  status: Joi.valid(...rideStatuses).empty(''),
  createdAfter: time,
  createdBefore: time,
  reference,
  limit: limit.default(20),
  cursor: Joi.string()
    .empty('')
    .pattern(/^ride_[0-9A-Za-z]{24}$/)
    .messages({ 'string.pattern.base': '{{#label}} must be the nextCursor of an earlier answer' }),
});

const waitSeconds = Joi.number().integer().min(0).max(30).empty('').default(0);

/** The query of the event feed. */
export const feedSchema = Joi.object<{ after?: string; limit: number; waitSeconds: number }>({
  after: Joi.string()
    .empty('')
    .pattern(cursorForm)
    .messages({ 'string.pattern.base': '{{#label}} must be the cursor of an earlier answer, or now' }),
  limit: limit.default(100),
  waitSeconds,
});

/** The query of the events of a ride. */
export const rideEventsSchema = Joi.object<{ after: number; waitSeconds: number }>({
  after: Joi.number().integer().min(0).empty('').default(0),
  waitSeconds,
});

export const acceptSchema = Joi.object({ offerId: Joi.string().required() }).required().label('The request body');

/** The body of a raise of the fare. */
export const fareSchema = Joi.object<{ fare: number }>({ fare: money.required() }).required().label('The request body');

/** The body of an offer by hand in a test ride. */
export const handOfferSchema = Joi.object<{ price?: number; etaMinutes?: number }>({
  price: money.empty(null),
  etaMinutes,
})
  .required()
  .label('The request body');

/** `lat,lng` in a query. */
const point = Joi.string()
  .required()
  .custom((value: string, helpers) => {
    const [, lat, lng] = /^(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)$/.exec(value) ?? [];
    const place = { lat: Number(lat), lng: Number(lng) };
    return Math.abs(place.lat) <= 90 && Math.abs(place.lng) <= 180 ? place : helpers.error('point.form');
  })
  .messages({ 'point.form': '{{#label}} must be a latitude and a longitude, such as 40.758,-73.9855' });

/** The query of the fare hint. */
export const fareHintSchema = Joi.object<{ pickup: Point; destination: Point; carType: CarType }>({
  pickup: point,
  destination: point,
  carType: Joi.valid(...carTypes)
    .empty('')
    .default('regular'),
});

export const scenarioSchema = Joi.valid(...testScenarios).label('X-Service-Test-Scenario');

export const idempotencyKeySchema = Joi.string()
  .max(255)
  .pattern(/^[\x21-\x7e]+$/, 'printable ASCII')
  .messages({ 'string.pattern.name': '{{#label}} must be {{#name}} without spaces' })
  .label('Idempotency-Key');
