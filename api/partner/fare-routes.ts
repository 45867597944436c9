import type { Context } from '../../shared/base/context.ts';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { fareHint } from '../../shared/fares/fare-hint.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { list, post, type Route, rideIdOf } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { authenticate, originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import * as operations from './operations.ts';
import { presentFare, presentFareHint } from './presenters.ts';
import { fareHintSchema, fareSchema } from './schemas.ts';
import { warnOfFare, warnOfPlaces } from './warnings.ts';

/** Raising the fare of a ride while it bids, and what fares near a place come to (contract, sections 10.6 and 10.7). */
export function fareRoutes(service: Context): Route[] {
  const findCaller = authenticate(service);
  const fareBody = bodyOf(fareSchema);

  return [
    post(operations.raiseFare, {
      authenticate: findCaller,
      validate: async (ctx, { keyId }) => {
        const { fare } = await fareBody(ctx);
        warnOfFare(ctx, fare);
        return { fare, keyId, rideId: rideIdOf(ctx), origin: originOf(ctx) };
      },
      act: ({ fare, keyId, rideId, origin }) =>
        applyAction(service, rideId, { action: 'raiseFare', fare }, { keyId }, origin),
      present: presentFare,
    }),
    list(operations.fareHint, {
      authenticate: findCaller,
      validate: (ctx, { mode }) => {
        const query = queryOf(fareHintSchema, ctx);
        warnOfPlaces(ctx, query.pickup, query.destination);
        return { ...query, mode };
      },
      act: async ({ destination, ...trip }) => ({
        carType: trip.carType,
        distanceKm: greatCircleKm(trip.pickup, destination),
        hint: await fareHint(trip, { tariff: service.config.fareTariff, nowMs: service.now() }),
      }),
      present: presentFareHint,
    }),
  ];
}
