import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type Caller, findCaller } from '../../shared/keys/api-key.ts';
import type { Origin, Ride } from '../../shared/rides/ride-types.ts';
import { givenKey, unauthorized } from '../http/given-key.ts';
import { rideIdOf } from '../http/route.ts';
import type { RequestContext } from '../types.ts';
import { batchedFindKeyAndRide } from './find-key-and-ride.ts';

/** Finds the caller by the request's secret key (contract, section 5), or throws a 401. */
export function authenticate(service: Context): (ctx: RequestContext) => Promise<Caller> {
  const find = async (secretKey: string) => {
    const caller = await findCaller(secretKey, service.now());
    return caller && { caller };
  };
  return async (ctx) => (await admit(ctx, find)).caller;
}

/**
 * The same, and reads the caller's ride that the path names in the same round trip. Throws the same 404 for a ride of another
 * key as for an unknown one.
 */
export function authenticateForRide<Shown extends Pick<Ride, '_id' | 'keyId'>>(
  service: Context,
  projection: object,
): (ctx: RequestContext) => Promise<Shown> {
  const find = batchedFindKeyAndRide<Shown>(projection);
  return async (ctx) => {
    const { ride } = await admit(ctx, (secretKey) => find(secretKey, rideIdOf(ctx), service.now()));
    if (!ride) throw new AppError('ride_not_found');
    return ride;
  };
}

/** Admits the caller that `find` finds for the request's secret key, or throws a 401. */
async function admit<Found extends { caller: Caller }>(
  ctx: RequestContext,
  find: (secretKey: string) => Promise<Found | null>,
): Promise<Found> {
  const secretKey = givenKey(ctx);
  const found = secretKey ? await find(secretKey) : null;
  if (!found) throw unauthorized();
  ctx.state.caller = found.caller;
  return found;
}

/** Who a change that this request makes is from. */
export const originOf = (ctx: RequestContext): Origin => ({ by: 'partner', requestId: ctx.state.requestId });
