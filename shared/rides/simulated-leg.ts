import type { Config } from '../base/config.ts';
import { decodeLine } from './path.ts';
import { arrivalHeading, legBetween, pointAt, presentLeg, presentRoute } from './position.ts';
import type { Location, RideState, Timer } from './ride-types.ts';
import { numberFrom, simulatedDriveMs } from './simulation.ts';
import type { RideAction } from './transitions.ts';

/**
 * The drive that begins with an accept or a start, for a test ride. In live mode the driver reports positions. If the
 * road to the pickup is known at the accept, the car starts on it. Pure.
 */
export function simulatedLeg(
  ride: RideState,
  action: 'accept' | 'start',
  now: Date,
  { simulationSpeed }: Pick<Config, 'simulationSpeed'>,
): Pick<RideState, 'leg' | 'route'> {
  if (ride.mode !== 'test') return {};
  const durationMs = simulatedDriveMs(ride.scenario, action) / simulationSpeed;
  if (action === 'start') {
    return { leg: legBetween(ride.pickup, ride.destination, now, durationMs, headingAtPickup(ride)) };
  }
  const route = presentRoute(ride);
  const [roadStart] = decodeLine(route?.road?.line ?? '') ?? [];
  return {
    leg: legBetween(roadStart ?? simulatedStart(ride), ride.pickup, now, durationMs),
    ...(route && roadStart && { route: { ...route, at: now } }),
  };
}

/** The start if no road near it is known: 1.2 km from the pickup, in a direction derived from the ride's id. */
export function simulatedStart(ride: Pick<RideState, '_id' | 'pickup'>): Location {
  return pointAt(ride.pickup, 1.2, numberFrom(ride._id) % 360);
}

function headingAtPickup(ride: RideState): number | undefined {
  const leg = presentLeg(ride);
  return leg && arrivalHeading(leg);
}

/**
 * The timer that asks for a road, if there is a routing server: when a leg begins, and for a test ride already with the
 * first offer, so that the simulated driver starts on a road. Pure.
 */
export function routeTimers(
  ride: RideState,
  action: RideAction,
  now: Date,
  { routing }: Pick<Config, 'routing'>,
): Timer[] {
  const { mode, route, timers } = ride;
  const asksAhead = action === 'offer' && mode === 'test' && !route && !timers.some(({ name }) => name === 'route');
  const asksForLeg = action === 'start' || (action === 'accept' && !(mode === 'test' && route?.road));
  return routing && (asksAhead || asksForLeg) ? [{ name: 'route', dueAt: now }] : [];
}
