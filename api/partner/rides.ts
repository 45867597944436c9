import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { createRide, findReplay, type NewRide, UnconfirmedRide } from '../../shared/rides/create-ride.ts';
import { greatCircleKm } from '../../shared/rides/position.ts';
import type { Ride, RideRequest } from '../../shared/rides/ride-types.ts';
import { validate } from '../http/validate.ts';
import type { Middleware, RequestContext } from '../types.ts';
import { admit, callerOf, givenKey } from './authenticate.ts';
import { batchedFindKeyAndRide } from './find-key-and-ride.ts';
import { presentCreated, presentOutcome, presentRide, type ShownRide, shownFields } from './presenters.ts';
import type { Charge, creationLimiter } from './rate-limit.ts';
import { idempotencyKeySchema, newRideSchema, scenarioSchema } from './schemas.ts';

/** POST /rides (contract, section 4.1): validate, charge, insert, answer. Only a ride that was made is charged. */
export function create(service: Context, charge: ReturnType<typeof creationLimiter>): Middleware {
  const schema = newRideSchema(service.config.webhookLocalTargets);
  return async (ctx) => {
    const input = readNewRide(ctx, schema);
    const replay = await findReplay(service, input);
    const ride = replay ?? (await chargedCreation(ctx, input));
    ctx.status = 201;
    ctx.body = presentCreated(service.config, ride);
  };

  async function chargedCreation(ctx: RequestContext, input: NewRide) {
    const charged = await charge(input.key.keyId, input.idempotencyKey);
    try {
      // Also where a repeat was first to insert: both stand in the limit's log as one creation.
      const ride = await createRide(service, input);
      ctx.set(charged.headers);
      return ride;
    } catch (error) {
      if (error instanceof UnconfirmedRide) void refundUnlessMade(error, input, charged);
      // A conflict means that the ride under this Idempotency-Key was made, by the request it conflicts with.
      else if (!(error instanceof AppError && error.code === 'idempotency_conflict')) await charged.refund();
      throw error;
    }
  }
}

/** With an Idempotency-Key the charge stays in any case: it is that of the repeats as well. */
async function refundUnlessMade(error: UnconfirmedRide, input: NewRide, charged: Charge): Promise<void> {
  if (input.idempotencyKey === undefined && !(await error.isMade())) await charged.refund();
}

/** GET /rides/:rideId (contract, section 4.2). */
export const retrieve = (service: Context): Middleware =>
  readOf<ShownRide>(service, shownFields, (ride) => presentRide(service.config, ride));

/**
 * Answers what `present` makes of the caller's ride. Authenticates for itself, so that key and ride are read at once:
 * throws a 401, or the same 404 for a foreign ride as for none.
 */
export function readOf<Shown extends Pick<Ride, '_id' | 'keyId'>>(
  service: Context,
  fields: object,
  present: (ride: Shown) => unknown,
): Middleware {
  const find = batchedFindKeyAndRide<Shown>(fields);
  return async (ctx) => {
    const found = await find(givenKey(ctx), rideIdOf(ctx), service.now());
    admit(ctx, found?.caller);
    if (!found?.ride) throw new AppError('ride_not_found');
    ctx.body = present(found.ride);
  };
}

/** POST /rides/:rideId/cancel (contract, section 4.5). A body is not even read. */
export function cancel(service: Context): Middleware {
  return async (ctx) => {
    const ride = await applyAction(service, rideIdOf(ctx), { action: 'cancel', by: 'partner' }, callerOf(ctx));
    ctx.body = presentOutcome(ride);
  };
}

export const rideIdOf = (ctx: RequestContext): string =>
  (ctx as unknown as { params: { rideId: string } }).params.rideId;

function readNewRide(ctx: RequestContext, schema: ReturnType<typeof newRideSchema>): NewRide {
  const key = callerOf(ctx);
  const request = newRideRequest(validate(schema, ctx.request.body));
  const { 'idempotency-key': givenKey, 'x-service-test-scenario': givenScenario } = ctx.headers;
  return {
    key,
    request,
    ...(givenKey !== undefined && { idempotencyKey: validate(idempotencyKeySchema, givenKey) }),
    // A live key has no simulated driver to direct, and ignores the header.
    ...(givenScenario !== undefined && key.mode === 'test' && { scenario: validate(scenarioSchema, givenScenario) }),
  };
}

/** Names each field, in a fixed order: an Idempotency-Key's request is compared by this text. */
function newRideRequest(given: Omit<RideRequest, 'distanceKm'> & { distanceKm?: number }): RideRequest {
  const { pickup, destination, passenger, notes, webhookUrl } = given;
  return {
    pickup: newLocation(pickup),
    destination: newLocation(destination),
    fare: given.fare,
    carType: given.carType,
    rideType: given.rideType,
    passengerCount: given.passengerCount,
    distanceKm: given.distanceKm ?? greatCircleKm(pickup, destination),
    ...(notes !== undefined && { notes }),
    ...(passenger && { passenger: { ...present({ name: passenger.name, phone: passenger.phone }) } }),
    ...(webhookUrl !== undefined && { webhookUrl }),
  };
}

const newLocation = ({ lat, lng, address }: RideRequest['pickup']) => present({ lat, lng, address });

/** Without the fields that were not given: BSON would keep them as null. */
function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
