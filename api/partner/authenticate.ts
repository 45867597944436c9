import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type Caller, findCaller } from '../../shared/keys/find-caller.ts';
import { findKeyAndRide, type Lookup } from '../../shared/rides/find-key-and-ride.ts';
import type { Origin, Ride } from '../../shared/rides/ride-types.ts';
import { readApiKey } from '../http/credentials.ts';
import { rideIdOf } from '../http/route.ts';
import type { RequestContext } from '../part.ts';

/** Finds the caller by the request's secret key (contract, section 5), or throws a 401. */
export type FindCaller = (ctx: RequestContext) => Promise<Caller>;

export function authenticate(service: Pick<Context, 'now'>): FindCaller {
  const find = async (secretKey: string) => {
    const caller = await findCaller(secretKey, service.now());
    return caller && { caller };
  };
  return async (ctx) => (await admit(ctx, find)).caller;
}

/**
 * Finds the caller and, in the same round trip, the ride in the path (`findKeyAndRide`). Throws a 401 or a 404. The 404 is
 * the same for a ride of another key as for an unknown one.
 */
export function authenticateForRide<ProjectedRide extends Pick<Ride, '_id' | 'keyId'>>(
  service: Pick<Context, 'now'>,
  projection: object,
  lookup?: Lookup,
): (ctx: RequestContext) => Promise<ProjectedRide> {
  const find = findKeyAndRide<ProjectedRide>(projection, lookup);
  return async (ctx) => {
    const { ride } = await admit(ctx, (secretKey) => find(secretKey, rideIdOf(ctx), service.now()));
    if (!ride) throw new AppError('ride_not_found');
    return ride;
  };
}

/** Finds the caller by the request's secret key, and stores it in the request's state. Throws a 401 without one. */
async function admit<Result extends { caller: Caller }>(
  ctx: RequestContext,
  find: (secretKey: string) => Promise<Result | null>,
): Promise<Result> {
  const secretKey = readApiKey(ctx);
  const found = secretKey ? await find(secretKey) : null;
  if (!found) throw new AppError('unauthorized');
  ctx.state.caller = found.caller;
  return found;
}

/** The origin to record with a change that this request makes. */
export const originOf = (ctx: RequestContext): Origin => ({ by: 'partner', requestId: ctx.state.requestId });
