import type { Config } from '../../shared/base/config.ts';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import type { Caller } from '../../shared/keys/api-key.ts';
import type { NewRide } from '../../shared/rides/create-ride.ts';
import type { AutoAccept, RideRequest } from '../../shared/rides/ride-types.ts';
import { validate } from '../http/validate.ts';
import type { RequestContext } from '../types.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import { idempotencyKeySchema, newRideSchema, scenarioSchema } from './schemas.ts';
import { warnOfRide } from './warnings.ts';

/** Validates a creation: its body (contract, section 4.1), Idempotency-Key and test scenario. Throws a 400, 408 or 413. */
export function newRide(config: Pick<Config, 'environment' | 'webhookLocalTargets'>) {
  const body = bodyOf(newRideSchema(config));
  return async (ctx: RequestContext, key: Caller): Promise<NewRide> => {
    const request = rideRequest(await body(ctx));
    warnOfRide(ctx, request);
    const { 'idempotency-key': idempotencyKey, 'x-service-test-scenario': scenario } = ctx.headers;
    return {
      key,
      request,
      origin: originOf(ctx),
      ...(idempotencyKey !== undefined && { idempotencyKey: validate(idempotencyKeySchema, idempotencyKey) }),
      // A live key ignores the header: its rides have no simulated driver.
      ...(scenario !== undefined && key.mode === 'test' && { scenario: validate(scenarioSchema, scenario) }),
    };
  };
}

/**
 * What a partner requested, of a body that `newRideSchema` has validated. Lists each field in a fixed order: requests with the
 * same Idempotency-Key are compared by their JSON.
 */
export function rideRequest(given: Omit<RideRequest, 'distanceKm'> & { distanceKm?: number }): RideRequest {
  const { pickup, destination, passenger, notes, webhookUrl, reference, metadata, autoAccept } = given;
  return {
    pickup: location(pickup),
    destination: location(destination),
    fare: given.fare,
    carType: given.carType,
    rideType: given.rideType,
    passengerCount: given.passengerCount,
    distanceKm: given.distanceKm ?? greatCircleKm(pickup, destination),
    ...(notes !== undefined && { notes }),
    ...(passenger && { passenger: omitUndefined({ name: passenger.name, phone: passenger.phone }) }),
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(reference !== undefined && { reference }),
    ...(metadata && { metadata: omitUndefined(Object.fromEntries(Object.entries(metadata).sort(byName))) }),
    ...(autoAccept && { autoAccept: limits(autoAccept) }),
  };
}

const byName = ([one]: [string, string], [other]: [string, string]): number => (one < other ? -1 : 1);

const limits = ({ maxPrice, maxEtaMinutes }: AutoAccept) => omitUndefined({ maxPrice, maxEtaMinutes });

const location = ({ lat, lng, address }: RideRequest['pickup']) => omitUndefined({ lat, lng, address });

/** BSON would store an undefined field as null. */
function omitUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
