import Joi from 'joi';
import type { Config } from '../../shared/base/config.ts';
import { canBeTexted } from '../../shared/base/e164.ts';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { pick } from '../../shared/base/pick.ts';
import { maxContacts } from '../../shared/messages/message-kinds.ts';
import { type FieldName, fieldNames, type GivenFields, rowOf } from '../../shared/rides/fields.ts';
import { carType, rideType } from '../../shared/rides/public-schemas.ts';
import type { AutoAccept, ChangedTerms, Location, RideRequest } from '../../shared/rides/ride-types.ts';
import { checkGivenTarget } from '../../shared/targets/given-target.ts';
import { tooLong } from '../../shared/targets/target.ts';
import { latitude, longitude } from '../http/validate.ts';
import { choice, etaMinutes, money, reference, referenceText, text, textUpTo, unixTime } from './field-types.ts';

const location = Joi.object<Location>({
  lat: latitude,
  lng: longitude,
  address: text.description('Shown to the driver.'),
});

const passengerCount = Joi.number().integer().min(1).max(7).empty(null);

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

const autoAccept = Joi.object<AutoAccept>({
  maxPrice: money.required().description('The highest price to accept, in USD.'),
  maxEtaMinutes: etaMinutes.description('The longest time to the pickup, in minutes. Default: no limit.'),
  waitSeconds: Joi.number()
    .integer()
    .min(1)
    .max(600)
    .empty(null)
    .description(
      'The time to wait after the first offer within these limits; then the best one is accepted. Default: the first one is accepted at once.',
    ),
}).empty(null);

/** A URL to which events are sent (contract, section 6, rule 2). */
export const targetUrl = (config: Pick<Config, 'environment' | 'webhookLocalTargets'>) =>
  Joi.string()
    .empty(null)
    .custom((value: string, helpers) => {
      const refusal = value.isWellFormed() ? checkGivenTarget(config, value) : 'must be well-formed Unicode';
      const code = refusal === tooLong ? 'text.length' : 'target.refused';
      return refusal ? helpers.error(code, { refusal }) : value;
    })
    .meta({ openapi: { format: 'uri', pattern: '^https://', maxLength: 2048 } })
    .messages(Object.fromEntries(['target.refused', 'text.length'].map((code) => [code, '{{#label}} {{#refusal}}'])));

const notE164 = '{{#label}} must be a phone number in E.164 form, such as +12025550143, because it is texted';

const locale = Joi.string()
  .max(35)
  .empty(Joi.valid(null, ''))
  .custom((value: string, helpers) => {
    try {
      return new Intl.Locale(value).toString();
    } catch {
      return helpers.error('locale.form');
    }
  })
  .meta({ openapi: {} })
  .messages({ 'locale.form': '{{#label}} must be a BCP 47 language tag, such as es or pt-BR' })
  .description('The language that they read, as a BCP 47 tag such as `es-MX`.');

const textedPhone = Joi.string()
  .custom((value: string, helpers) => (canBeTexted(value) ? value : helpers.error('phone.form')))
  .meta({ openapi: { pattern: '^\\+[1-9][0-9]{6,14}$' } })
  .messages({ 'phone.form': notE164 });

const notify = Joi.object({
  passenger: Joi.boolean()
    .strict()
    .empty(null)
    .description('The passenger gets text messages. Then `passenger.phone` must be a number in E.164 form.'),
  contacts: Joi.array()
    .items(
      Joi.object({
        name: textUpTo(100).description('Their name.'),
        phone: textedPhone.required().description('Their phone number, in E.164 form.'),
        locale,
      }),
    )
    .max(maxContacts)
    .empty(null)
    .description('Others who are told that a driver was found, and how the ride ended.'),
}).empty(null);

/** The schemas of the optional fields with rules that their rows (fields.ts) do not say. */
const ownSchemas = {
  passenger: Joi.object({
    name: text.description('Their name.'),
    phone: text.description('Their phone number.'),
    locale,
  }).empty(null),
  notify,
  notes: textUpTo(200),
  reference,
  metadata,
  autoAccept,
  // Its distance from now is checked later (`assertPickupTime`).
  pickupAt: unixTime.empty(null),
};

/** The optional fields that their rows describe completely. */
const plainNames = fieldNames.filter((name) => !(name in ownSchemas) && name !== 'webhookUrl');

/** The schema of a choice, of a list of choices, of an integer or of a boolean, from the row of the field. */
function plainSchema(name: FieldName): Joi.Schema {
  const { schema } = rowOf(name);
  const { items, type, minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (schema.enum) return choice(schema).empty(null);
  if (items?.enum) return Joi.array().items(choice(items)).unique().empty(null);
  if (type === 'boolean') return Joi.boolean().strict().empty(null);
  if (type === 'integer') return Joi.number().integer().min(minimum).max(maximum).empty(null);
  throw new Error(`${name} needs a schema of its own`);
}

const plainSchemas = Object.fromEntries(plainNames.map((name) => [name, plainSchema(name)]));

const described = (schemas: Partial<Record<FieldName, Joi.Schema>>): Joi.SchemaMap =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, schema.description(rowOf(name as FieldName).request)]),
  );

/** The body of a creation (contract, section 4.1). Other fields are ignored and never stored. */
export function newRideSchema(config: Pick<Config, 'environment' | 'webhookLocalTargets'>) {
  return bodySchema<GivenRequest>('NewRide', {
    pickup: location.required().description('The start of the ride.'),
    destination: location.required().description('The end of the ride; may equal the pickup.'),
    fare: money.required().description('The price that you offer, in USD. Drivers accept it or ask for more.'),
    carType: choice(carType).empty(null).default('regular').description(carType.description),
    rideType: choice(rideType).empty(null).default('standard').description(rideType.description),
    passengerCount: passengerCount.default(1).description('Number of passengers.'),
    distanceKm: Joi.number()
      .min(0)
      .empty(null)
      .description('Length of the trip. Default: the great-circle distance, rounded to two decimals.'),
    ...described({ ...ownSchemas, ...plainSchemas, webhookUrl: targetUrl(config) }),
  })
    .custom((given: GivenRequest, helpers) =>
      given.notify?.passenger && !canBeTexted(given.passenger?.phone)
        ? helpers.error('passenger.phone', {}, helpers.state.localize?.(['passenger', 'phone']))
        : given,
    )
    .messages({ 'passenger.phone': notE164.replace('{{#label}}', 'passenger.phone') });
}

/** The body of a change: each field as in a creation, but none is required and none has a default. */
export function changedTermsSchema(config: Pick<Config, 'environment' | 'webhookLocalTargets'>) {
  const changeable = fieldNames.filter((name) => rowOf(name).changes);
  const schemas: Record<string, Joi.Schema> = {
    ...{ ...ownSchemas, ...plainSchemas },
    // Here an empty text removes the field.
    reference: referenceText,
    webhookUrl: targetUrl(config)
      .allow('')
      .meta({ openapi: { pattern: '^(https://|$)' } }),
  };
  return bodySchema<Partial<GivenRequest>>('ChangedTerms', {
    destination: location.empty(null).description('The new end of the ride, while it is `bidding`.'),
    passengerCount: passengerCount.description('Number of passengers, while it is `bidding`.'),
    ...described(Object.fromEntries(changeable.map((name) => [name, schemas[name]]))),
  });
}

/** The terms that a body which `changedTermsSchema` has validated changes. */
export const changedTerms = (given: Partial<GivenRequest>): ChangedTerms => ({
  ...(given.destination && { destination: toLocation(given.destination) }),
  ...pick(given, 'passengerCount'),
  ...(given.needs && { needs: [] }),
  ...optionalFields(given),
});

type GivenRequest = Omit<RideRequest, 'distanceKm' | 'pickupAt'> & { distanceKm?: number; pickupAt?: number };

/** Builds the request of a valid body, in a fixed order: those with one Idempotency-Key are compared as JSON. */
export function rideRequest(given: GivenRequest): RideRequest {
  const { pickup, destination } = given;
  return {
    pickup: toLocation(pickup),
    destination: toLocation(destination),
    ...pick(given, 'fare', 'carType', 'rideType', 'passengerCount'),
    distanceKm: given.distanceKm ?? greatCircleKm(pickup, destination),
    ...optionalFields(given),
  };
}

/** The optional fields in their fixed order. */
function optionalFields(given: Partial<GivenRequest>): GivenFields {
  const { passenger, notify, metadata, autoAccept, pickupAt } = given;
  return {
    ...pick(given, 'notes'),
    ...(passenger && { passenger: toPerson(passenger) }),
    ...(notify && { notify: toNotify(notify) }),
    ...pick(given, 'webhookUrl', 'reference'),
    ...(metadata && { metadata: pick(metadata, ...Object.keys(metadata).sort()) }),
    ...(autoAccept && { autoAccept: pick(autoAccept, 'maxPrice', 'maxEtaMinutes', 'waitSeconds') }),
    ...(pickupAt !== undefined && { pickupAt: new Date(pickupAt) }),
    ...plainFields(given),
  };
}

/** The fields that need no conversion. An empty list counts as absent. */
const plainFields = (given: Partial<GivenRequest>): GivenFields =>
  Object.fromEntries(
    plainNames.flatMap((name) => {
      const value = Array.isArray(given[name]) ? inFixedOrder(name, given[name]) : given[name];
      return value === undefined || (Array.isArray(value) && value.length === 0) ? [] : [[name, value]];
    }),
  );

/** Two requests with the same list in another order are the same request. */
const inFixedOrder = (name: FieldName, list: readonly unknown[]) =>
  rowOf(name).schema.items?.enum?.filter((each) => list.includes(each));

const toNotify = ({ contacts, ...notify }: NonNullable<GivenFields['notify']>) => ({
  ...pick(notify, 'passenger'),
  ...(contacts && { contacts: contacts.map(toPerson) }),
});

const toPerson = <Person extends NonNullable<GivenFields['passenger']>>(person: Person) =>
  pick(person, 'name', 'phone', 'locale');

const toLocation = (location: Location) => pick(location, 'lat', 'lng', 'address');
