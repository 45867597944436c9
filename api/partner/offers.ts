import type { Context } from '../../shared/context.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { validate } from '../http/validate.ts';
import type { Middleware } from '../types.ts';
import { callerOf } from './authenticate.ts';
import { offerFields, presentOffers, presentOutcome, type RideWithOffers } from './presenters.ts';
import { readOf, rideIdOf } from './rides.ts';
import { acceptSchema } from './schemas.ts';

/** GET /rides/:rideId/offers (contract, section 4.3). */
export const listOffers = (service: Context): Middleware => readOf<RideWithOffers>(service, offerFields, presentOffers);

/** POST /rides/:rideId/accept (contract, section 4.4). Accepting the accepted offer again is a 200. */
export function accept(service: Context): Middleware {
  return async (ctx) => {
    const { offerId } = validate(acceptSchema, ctx.request.body);
    const ride = await applyAction(service, rideIdOf(ctx), { action: 'accept', offerId }, callerOf(ctx));
    ctx.body = presentOutcome(ride);
  };
}
