import Joi from 'joi';
import type { Shape } from '../../shared/base/json-schema.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';

/** The fields that several operations share: Joi validates requests, JSON Schema describes responses. */

/** The body that names an offer of the ride in the path. */
export const offerChoice = bodySchema<{ offerId: string }>('OfferChoice', {
  offerId: Joi.string().required().description('An `offerId` from the list of offers.'),
});

/** The maximum number of entries in a page. */
export const limit = Joi.number().integer().min(1).max(100).empty('');
/** A cursor. Its format may change, so the documentation does not describe it. */
export const opaqueCursor = Joi.string().empty('').meta({ isOpaque: true });

/** The cursor of a page, and the field of the previous page that has it. */
export const pageCursor = (pattern: RegExp) =>
  opaqueCursor
    .pattern(pattern)
    .messages({ 'string.pattern.base': '{{#label}} must be the nextCursor of an earlier answer' })
    .description('The `nextCursor` of the previous page. Default: the first page.');
export const nextCursor = {
  anyOf: [{ type: 'string' }, { type: 'null' }],
  description: 'The `cursor` of the next page; `null` on the last one.',
} as const;

export const distanceKm = {
  type: 'number',
  minimum: 0,
  description: 'Length of the trip, in km: your value, or the great-circle distance.',
} as const;

export const success = {
  const: true,
  type: 'boolean',
  description: 'Always `true`: a failure has another status.',
} as const;

export const bidding = { const: 'bidding', type: 'string', description: 'The ride waits for offers.' } as const;

/** The ride in all examples. */
export const exampleRideId = rideId.examples[0];

/** The first fields of the answer to each change of a ride. `changeOfRide` adds them to those that `present` returns. */
export const changed = { success, rideId } as const;
export const exampleChanged = { success: true, rideId: exampleRideId } as const;
export type FurtherFields<Schema> = Omit<Shape<Schema>, keyof typeof changed>;
