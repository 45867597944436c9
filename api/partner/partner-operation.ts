import type { Context } from '../../shared/base/context.ts';
import type { Operation } from '../../shared/base/operation.ts';
import type { Caller } from '../../shared/keys/find-caller.ts';
import type { Origin, RideState } from '../../shared/rides/ride-types.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import type { Middleware, RequestContext } from '../part.ts';
import type { CreateForRequest } from '../rides/create-for-request.ts';
import type { WaitingPolls } from '../streams/waiting-polls.ts';
import { type FindCaller, originOf } from './authenticate.ts';

/** The dependencies of the partner API's routes. */
export interface PartnerApi {
  service: Context;
  findCaller: FindCaller;
  createRide: CreateForRequest;
  polls: WaitingPolls;
  operations: readonly Operation[];
}

/** An operation of the partner API: its documentation, and a function that creates its route. */
export interface PartnerOperation extends Operation {
  route(api: PartnerApi): Middleware;
}

interface RideChange<Change> {
  /** Reads the change from the request. Throws if the request is invalid, or if the caller may not make the change. */
  read(ctx: RequestContext, caller: Caller): Change | Promise<Change>;
  apply(service: Context, rideId: string, change: Change, owner: { keyId: string }, origin: Origin): Promise<RideState>;
  /** Adds warnings about the ride as it is after the change. */
  warn?(ctx: RequestContext, ride: RideState, change: Change): void;
  /** The fields of the answer after `success` and `rideId`. */
  present(ride: RideState): object;
}

/** The handler of a route on which a key changes one of its rides. */
export function changeOfRide<Change>(
  operation: Operation,
  { service, findCaller }: Pick<PartnerApi, 'service' | 'findCaller'>,
  { read, apply, warn, present }: RideChange<Change>,
): Middleware {
  return inSteps(operation, {
    authenticate: findCaller,
    validate: async (ctx, caller) => ({ keyId: caller.keyId, change: await read(ctx, caller) }),
    async act({ keyId, change }, ctx) {
      const ride = await apply(service, rideIdOf(ctx), change, { keyId }, originOf(ctx));
      warn?.(ctx, ride, change);
      return ride;
    },
    present: (ride) => ({ success: true, rideId: ride._id, ...present(ride) }),
  });
}
