import type { Context } from '../base/context.ts';
import { addJob } from '../base/queues.ts';
import { offRouteKm, routePath } from './arrival.ts';
import { nearestOn, pathAlong } from './path.ts';
import { presentRoute } from './position.ts';
import { timerJobId } from './ride-jobs.ts';
import type { ReportedPosition, Ride } from './ride-types.ts';

/** The routing server is asked for the same ride at most once in this time. */
const askEveryMs = 20_000;
/** An older report does not say where the car is now. */
const maxReportAgeMs = 60_000;

export type RoutedRide = Pick<Ride, 'mode' | 'status' | 'leg' | 'route'> & { reported?: ReportedPosition };

/**
 * True if a real car has left the route of its leg, and the routing server may be asked again. If there was no road, the
 * route is the point from which it was asked for. Always false without a routing server, because then the ride has no
 * route. Pure.
 */
export function isOffRoute(ride: RoutedRide, nowMs: number): boolean {
  const { mode, status, reported } = ride;
  const route = presentRoute(ride);
  if (mode !== 'live' || status === 'arrived' || !route || !reported) return false;
  if (nowMs - route.at.getTime() < askEveryMs || nowMs - reported.at.getTime() > maxReportAgeMs) return false;
  const path = routePath(ride) ?? pathAlong(route.from ? [route.from] : []);
  return nearestOn(path, reported).offKm > offRouteKm;
}

/**
 * Adds a job that asks for a new route, if the car has left the one that it has. Readers call this, so a ride at which
 * nobody looks costs nothing. Never rejects, and readers do not wait for it. A lost job is harmless: the next reader adds
 * it.
 */
export async function askIfOffRoute(ctx: Context, ride: RoutedRide & { _id: string }): Promise<void> {
  const now = ctx.now();
  if (!isOffRoute(ride, now)) return;
  const data = { rideId: ride._id, timer: 'route' } as const;
  await addJob(ctx, 'routing', { id: timerJobId(ride._id, 'route'), name: `route ${ride._id}`, data });
}
