import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { maxPrice } from '../../shared/base/terms.ts';
import { needs as needList, offerSchema, rideId } from '../../shared/rides/public-schemas.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { bodySchema } from '../http/operation.ts';

/** The fields that several operations share: Joi validates requests, JSON Schema describes responses. */

/** The body that names an offer of the ride in the path. */
export const offerChoice = bodySchema<{ offerId: string }>('OfferChoice', {
  offerId: Joi.string().required().description('An `offerId` from the list of offers.'),
});

/** The maximum number of entries in a page. */
export const limit = Joi.number().integer().min(1).max(100).empty('');
/** A cursor. Its format may change, so the documentation does not describe it. */
export const opaqueCursor = Joi.string().empty('').meta({ isOpaque: true });

export const distanceKm = {
  type: 'number',
  minimum: 0,
  description: 'Length of the trip, in km: your value, or the great-circle distance.',
} as const;

export const autoAccept = objectSchema(
  {
    maxPrice: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: maxPrice,
      description: 'The highest price to accept, in USD.',
    },
    maxEtaMinutes: {
      type: 'number',
      minimum: 0,
      description: 'The longest time to the pickup, in minutes. Present if you gave it.',
    },
    waitSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 600,
      description: 'The time to wait for better offers, in seconds. Present if you gave it.',
    },
  },
  {
    description: 'Your limits for automatic acceptance. Present if you gave them.',
    optional: ['maxEtaMinutes', 'waitSeconds'],
  },
);

export const needs = { ...needList, description: 'The needs of the ride. Present if you gave any.' } as const;

export const presentNeeds = (ride: Pick<Ride, 'needs'>) => (ride.needs ? { needs: ride.needs } : {});

export const presentAutoAccept = (ride: Pick<Ride, 'autoAccept'>) =>
  ride.autoAccept ? { autoAccept: ride.autoAccept } : {};

export const presentDriverCancel = (ride: Pick<Ride, 'onDriverCancel'>) =>
  ride.onDriverCancel ? { onDriverCancel: ride.onDriverCancel } : {};

export const presentTestMode = (ride: Pick<Ride, 'mode'>) => (ride.mode === 'test' ? { testMode: true as const } : {});

export const success = {
  const: true,
  type: 'boolean',
  description: 'Always `true`: a failure has another status.',
} as const;

export const bidding = { const: 'bidding', type: 'string', description: 'The ride waits for offers.' } as const;

/** The ride and the offer in all examples. */
export const exampleRideId = rideId.examples[0];
export const exampleTrackUrl = 'https://rides.example/track/4kDq0ZrT8mXw2LpNc7VbYa';
export const exampleOffer: Shape<typeof offerSchema> = {
  offerId: offerSchema.properties.offerId.examples[0],
  price: 24.5,
  etaMinutes: 3,
  driver: { name: 'Alex Rivera', rating: 4.9, plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
};
