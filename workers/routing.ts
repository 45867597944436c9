import type { Context } from '../shared/base/context.ts';
import type { Point } from '../shared/base/great-circle.ts';
import type { TimerJob } from '../shared/base/queues.ts';
import { askRoute } from '../shared/outbound/ask-route.ts';
import { changeRide } from '../shared/rides/change-ride.ts';
import type { Change } from '../shared/rides/decide.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { legEnd } from '../shared/rides/position.ts';
import { readRide, withReportedPosition } from '../shared/rides/read-ride.ts';
import { isOffRoute } from '../shared/rides/reroute.ts';
import type { Leg, ReportedPosition, RideState, Route } from '../shared/rides/ride-types.ts';
import { simulatedStart } from '../shared/rides/simulated-leg.ts';
import { type Handler, timerOutcome } from './handler.ts';

type LocatedRide = RideState & { reported?: ReportedPosition };

/**
 * Handles the jobs of the queue `routing`: asks the routing server for the road of the ride's leg, when the timer `route`
 * says so and when a reader has found that the car has left the road. Without an answer, the ride only loses its timer.
 * Looks again if the ride has changed in the meantime: BullMQ drops the job of the next leg while this one is active.
 */
export const findRoad: Handler<TimerJob> = async (ctx, { rideId }) => {
  for (;;) {
    const read = await readRide({ rideId, owner: 'anyone' });
    if (!read) return { result: 'stale' };
    const timer = read.ride.timers.find(({ name }) => name === 'route');
    const ride = await withReportedPosition(read.ride);
    if (!timer) {
      if (!isOffRoute(ride, read.now.getTime())) return { result: 'stale' };
      if (await askAgain(ctx, ride, read.now)) return { result: 'done', keyId: ride.keyId };
      continue;
    }
    const road = await askForLeg(ctx, ride);
    const effectOf = ({ leg }: RideState, now: Date): Change => ({
      set: { route: routeOf(ride, road, leg ? joinTime(leg, now) : read.now) },
    });
    const fired = await fireTimer(ctx, rideId, 'route', effectOf, { dueAt: timer.dueAt });
    if (fired.result !== 'stale') return timerOutcome(fired);
  }
};

/**
 * Replaces the route of a car that has left it. Resolves with false if the leg has ended or another process was first.
 */
async function askAgain(ctx: Context, ride: LocatedRide, askedAt: Date): Promise<boolean> {
  const road = await askForLeg(ctx, ride);
  const changed = await changeRide(ctx, { rideId: ride._id, owner: 'anyone' }, (present) => {
    const isSame = present.status === ride.status && present.route?.at.getTime() === ride.route?.at.getTime();
    return { change: isSame ? { set: { route: routeOf(ride, road, askedAt) } } : 'not yet', result: isSame };
  });
  return changed?.result === true;
}

/** The start of the present or next leg: where the simulated drive begins, or where the car is now. */
const startOf = (ride: LocatedRide): Point | undefined =>
  ride.status === 'bidding' ? simulatedStart(ride) : (ride.leg?.from ?? ride.reported);

async function askForLeg(ctx: Context, ride: LocatedRide): Promise<Route['road'] | null> {
  const from = startOf(ride);
  return from ? askRoute(ctx, from, ride[legEnd(ride.status)]) : null;
}

function routeOf(ride: LocatedRide, road: Route['road'] | null, at: Date): Route {
  const from = startOf(ride);
  return {
    to: legEnd(ride.status),
    at,
    ...(from && { from: { lat: from.lat, lng: from.lng } }),
    ...(road && { road }),
  };
}

/** A simulated car joins the road so much later, so that every page has the road by then. */
const joinDelayMs = 300;

/** The time at which a simulated car joins its road: within the first tenth of the drive that is left. */
function joinTime({ endAt }: Leg, now: Date): Date {
  const leftMs = endAt.getTime() - now.getTime();
  return new Date(now.getTime() + Math.min(joinDelayMs, Math.max(0, leftMs / 10)));
}
