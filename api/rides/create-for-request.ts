import type { Context } from '../../shared/base/context.ts';
import type { CreationFields, NewRide } from '../../shared/rides/create-ride.ts';
import { rideCreation, SimulatedRefusal } from '../../shared/rides/creation.ts';
import type { RequestContext } from '../part.ts';

/** Creates a ride for a request, and sets the RateLimit headers of its response. */
export type CreateForRequest = (ctx: RequestContext, input: NewRide) => Promise<CreationFields>;

/** Creates rides in this process, whose limits all of its parts share. Throws like `rideCreation`. */
export function createForRequests(service: Context): CreateForRequest {
  const create = rideCreation(service);
  return async (ctx, input) => {
    try {
      const { ride, headers } = await create(input);
      ctx.set(headers);
      return ride;
    } catch (error) {
      if (error instanceof SimulatedRefusal) ctx.state.isSimulated = true;
      throw error;
    }
  };
}
