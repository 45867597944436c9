import type { Context } from '../../shared/context.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { gatheredFindForCaller } from '../../shared/rides/find-for-caller.ts';
import { validate } from '../http/validate.ts';
import type { Middleware } from '../types.ts';
import { callerOf } from './authenticate.ts';
import { offerFields, presentOffers, presentOutcome, type RideWithOffers } from './presenters.ts';
import { rideIdOf, rideOfCaller } from './rides.ts';
import { acceptSchema } from './schemas.ts';

/** GET /rides/:rideId/offers (contract, section 4.3). */
export function listOffers(service: Context): Middleware {
  const find = gatheredFindForCaller<RideWithOffers>(offerFields);
  return async (ctx) => {
    ctx.body = presentOffers(await rideOfCaller(service, ctx, find));
  };
}

/** POST /rides/:rideId/accept (contract, section 4.4). Accepting the accepted offer again is a 200. */
export function accept(service: Context): Middleware {
  return async (ctx) => {
    const { offerId } = validate(acceptSchema, ctx.request.body);
    const ride = await applyAction(service, rideIdOf(ctx), { action: 'accept', offerId }, callerOf(ctx).keyId);
    ctx.body = presentOutcome(ride);
  };
}
