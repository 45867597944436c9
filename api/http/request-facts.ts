import type { RequestContext } from '../types.ts';

/** What the log and the trace say of a request that was answered: its ids, its outcome, and its route as a pattern. */
export function requestFacts(ctx: RequestContext) {
  const { requestId, route = routeOf(ctx), caller, driver } = ctx.state;
  const { method, status } = ctx;
  const ids = { rideId: rideIdOf(ctx), keyId: caller?.keyId, driverId: driver?.driverId };
  return { requestId, method, route, status, ...ids };
}

/** The ride of the path, or the one that was created. What has not the form of an id may be anything, a key for example. */
function rideIdOf(ctx: object): string | undefined {
  const { params, body, status } = ctx as { params?: { rideId?: string }; body?: { rideId?: string }; status: number };
  const rideId = params?.rideId ?? (status === 201 ? body?.rideId : undefined);
  return rideId !== undefined && /^ride_[0-9A-Za-z]{24}$/.test(rideId) ? rideId : undefined;
}

/** The pattern of the route, which a router notes on the context. */
const routeOf = (ctx: object): string => (ctx as { _matchedRoute?: string })._matchedRoute ?? 'none';
