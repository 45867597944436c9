import Joi from 'joi';
import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { maxPrice } from '../../shared/base/terms.ts';

/** A text that is not empty, of well-formed Unicode. */
const nonEmptyText = Joi.string()
  .custom((value: string, helpers) => (value.isWellFormed() ? value : helpers.error('text.form')))
  // The rule adds no keyword to the JSON Schema, because JSON Schema's strings are always well-formed Unicode.
  .meta({ openapi: {} })
  .messages({ 'text.form': '{{#label}} must be well-formed Unicode' });

/** An optional text. `null` counts as absent; an empty text is allowed. */
export const text = nonEmptyText.allow('').empty(null);

const limited = (schema: Joi.StringSchema, length: number) =>
  schema
    .custom((value: string, helpers) => ([...value].length > length ? helpers.error('text.length') : value))
    .meta({ openapi: { maxLength: length } })
    .messages({ 'text.length': `{{#label}} must be at most ${length} characters` });

/** A text of at most `length` code points. */
export const textUpTo = (length: number) => limited(text, length);
export const nonEmptyTextUpTo = (length: number) => limited(nonEmptyText, length);

export const referenceText = textUpTo(64);
/** An empty reference counts as absent, because a search for it makes no sense. */
export const reference = referenceText.empty(Joi.valid(null, ''));

const notMilliseconds = '{{#label}} must be Unix time in milliseconds, such as 1795269600000';

/** A time from 2001 to 5138 in seconds is one of the first three years after 1970 in milliseconds. */
const looksLikeSeconds = (value: number): boolean => value >= 1e9 && value < 1e11;

/** A time in Unix ms, up to the year 5138, which MongoDB can store. Refuses what can only be seconds. */
export const unixTime = Joi.number()
  .integer()
  .min(0)
  .max(99_999_999_999_999)
  .custom((value: number, helpers) => (looksLikeSeconds(value) ? helpers.error('time.seconds') : value))
  .meta({ openapi: {} })
  .messages({
    ...Object.fromEntries(['base', 'integer', 'unsafe'].map((rule) => [`number.${rule}`, notMilliseconds])),
    'time.seconds': `${notMilliseconds}: this value is in seconds`,
  });

/** One of the values of a JSON Schema with `enum`. */
export const choice = ({ title, enum: values = [] }: JsonSchema) => Joi.valid(...values).meta({ openapi: { title } });

/** A fare or a price in US dollars. The limit keeps sums of them exact to the cent. */
export const money = Joi.number().greater(0).max(maxPrice);
export const etaMinutes = Joi.number().min(0).max(1_440).empty(null);

/** The body of a manual offer in a test ride (contract, section 10.4). */
export const manualOfferSchema = bodySchema<{ price?: number; etaMinutes?: number }>('ManualOffer', {
  price: money.empty(null).description("The driver's price, in USD. Default: the price in the ride's scenario."),
  etaMinutes: etaMinutes.description('Minutes until the driver can be at the pickup.'),
});
