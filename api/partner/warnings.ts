import type Joi from 'joi';
import { AppError } from '../../shared/base/errors.ts';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { validStatuses } from '../../shared/base/operation.ts';
import type { Location, RideRequest } from '../../shared/rides/ride-types.ts';
import { bodyText } from '../http/body.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { listIgnoredParameters, lostNames } from './ignored-fields.ts';

/** The warnings that a response to a test key can have: code and meaning. Codes are never renamed. */
export const warnings = {
  places_far_apart: 'Pickup and destination are more than 1,000 km apart. Latitude and longitude may be swapped.',
  fare_not_in_cents: 'The fare has more than two decimals.',
  phone_without_digits: "The passenger's phone number has no digit.",
  max_price_below_fare:
    'The `maxPrice` of `autoAccept` is below the fare, so an offer at your fare is not accepted automatically.',
  unknown_query_parameter: 'The query has a parameter that the operation does not know. This parameter is ignored.',
  repeated_field: 'The body has a field twice in the same object. Only the last value counts.',
} as const;

export type Warning = keyof typeof warnings;

const farApartKm = 1_000;

/** Records a warning about a valid request. Only responses to test keys show it (`withWarnings`). */
function warn(ctx: RequestContext, warning: Warning): void {
  ctx.state.warnings = (ctx.state.warnings ?? new Set()).add(warning);
}

export function warnOfRide(
  ctx: RequestContext,
  { pickup, destination, fare, passenger, autoAccept }: RideRequest,
): void {
  warnOfPlaces(ctx, pickup, destination);
  warnOfFare(ctx, fare);
  warnOfPhone(ctx, passenger);
  warnOfMaxPrice(ctx, { fare, autoAccept });
}

export function warnOfPlaces(ctx: RequestContext, pickup: Location, destination: Location): void {
  if (greatCircleKm(pickup, destination) > farApartKm) warn(ctx, 'places_far_apart');
}

export function warnOfPhone(ctx: RequestContext, passenger: RideRequest['passenger']): void {
  if (passenger?.phone && !/\p{Nd}/u.test(passenger.phone)) warn(ctx, 'phone_without_digits');
}

export function warnOfMaxPrice(
  ctx: RequestContext,
  { fare, autoAccept }: Pick<RideRequest, 'fare' | 'autoAccept'>,
): void {
  if (autoAccept && autoAccept.maxPrice < fare) warn(ctx, 'max_price_below_fare');
}

export function warnOfFare(ctx: RequestContext, fare: number): void {
  // String(fare) contains the decimals that were sent. It contains `e-` only for numbers below 0.000001.
  if (/\.\d{3}|e-/.test(String(fare))) warn(ctx, 'fare_not_in_cents');
}

/**
 * Wraps a handler. Its responses name the parameters that `query` does not know in `X-Service-Ignored-Fields`, and
 * responses to test keys list the request's warnings in `X-Service-Warnings`. The response to an invalid request (400)
 * has neither.
 */
export function withWarnings(query: Joi.ObjectSchema | undefined, handle: Middleware): Middleware {
  const known: object = query?.describe().keys ?? {};

  function setHeader(ctx: RequestContext): void {
    const unknown = Object.keys(ctx.query).filter((parameter) => !Object.hasOwn(known, parameter));
    listIgnoredParameters(ctx, unknown);
    if (ctx.state.caller?.mode !== 'test') return;
    if (unknown.length > 0) warn(ctx, 'unknown_query_parameter');
    if (lostNames(bodyText(ctx)).hasRepeated) warn(ctx, 'repeated_field');
    if (ctx.state.warnings) ctx.set('X-Service-Warnings', [...ctx.state.warnings].join(', '));
  }

  return async (ctx, next) => {
    try {
      await handle(ctx, next);
      setHeader(ctx);
    } catch (error) {
      if (error instanceof AppError && validStatuses.has(error.status)) setHeader(ctx);
      throw error;
    }
  };
}
