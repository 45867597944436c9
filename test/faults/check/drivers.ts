import type { Ride, RideStatus } from '../../../shared/rides/ride-types.ts';
import type { DriverCall } from '../load/driver-at-work.ts';
import type { FleetLog, Suspension } from '../load/fleet.ts';
import { answerViolations } from './driver-answers.ts';
import { biddingEndOf, type DriverEvidence, isCalm, promptMs, timeOf, tripOf } from './live-history.ts';
import { roundViolations } from './rounds.ts';
import { sightViolations } from './sights.ts';

/** Violations on the drivers' side of live rides: the logs of drivers and partners must agree with MongoDB. */
export function driverViolations(evidence: DriverEvidence): string[] {
  const { rides, fleet } = evidence;
  const live = rides.filter(({ mode }) => mode === 'live');
  return [
    ...answerViolations(evidence),
    ...sightViolations(evidence),
    ...live.flatMap((ride) => rideViolations(ride, fleet)),
    ...fleet.drivers.flatMap(({ driverId }) => twoAtATime(driverId, live)),
    ...live.flatMap((ride) => staleOffers(ride, evidence)),
    ...roundViolations(evidence),
  ];
}

/** Tolerated difference between the times of this process and MongoDB's, which come from the same clock. */
const slackMs = 50;

const stepTo = { arrived: 'arrive', in_progress: 'start', completed: 'complete' } as const;

/** Compares the ride's history with the driver's own log. */
function rideViolations(ride: Ride, { calls, suspensions }: FleetLog): string[] {
  const violations: string[] = [];
  const say = (what: string) => violations.push(`${ride._id}: ${what}`);
  const accepted = ride.offers.find(({ offerId }) => offerId === ride.acceptedOfferId);
  const driverId = ride.driver?.driverId;
  if (accepted?.driver.driverId !== driverId) say('is driven by another driver than the chosen one');
  if (accepted?.withdrawnAt) say('has a driver who withdrew the offer');
  if (!driverId) return violations;
  const hasCall = (operation: DriverCall['operation'], at: number) =>
    calls.some((call) => {
      return (
        call.driverId === driverId &&
        call.operation === operation &&
        call.rideId === ride._id &&
        call.at <= at + slackMs
      );
    });
  for (const [status, step] of Object.entries(stepTo)) {
    const at = timeOf(ride, status as RideStatus);
    if (at !== undefined && !hasCall(step, at)) say(`is ${status} without a step of its driver`);
    if (at !== undefined && isIn(suspensions, driverId, at)) say(`was set to ${status} by a suspended driver`);
  }
  const endedAt = timeOf(ride, 'cancelled');
  if (endedAt !== undefined && ride.cancelledBy === 'driver') {
    const wasSuspended = suspensions.some((each) => each.driverId === driverId && each.askedAt <= endedAt + slackMs);
    if (!wasSuspended && !hasCall('cancel', endedAt)) say('is cancelled by a driver who did not cancel it');
  }
  if (!ride.lastPosition) say('has no last position of its driver');
  return violations;
}

/** A request that was in flight at the suspension may still be accepted. */
const inFlightMs = 3_000;

const isIn = (suspensions: readonly Suspension[], driverId: string, at: number): boolean =>
  suspensions.some((each) => each.driverId === driverId && at > each.from + inFlightMs && at < each.until);

function twoAtATime(driverId: string, rides: readonly Ride[]): string[] {
  const trips = rides
    .filter(({ driver }) => driver?.driverId === driverId)
    .flatMap((ride) => ({ ride, ...(tripOf(ride) ?? { from: 0, until: 0 }) }))
    .sort((a, b) => a.from - b.from);
  // A stored time may be a few ms too late, because events of a ride in the same millisecond are stored 1 ms apart.
  return trips.flatMap(({ ride, from }, index) => {
    const before = trips[index - 1];
    return before && from < before.until - 3 ? [`${driverId} is on ${before.ride._id} and on ${ride._id}`] : [];
  });
}

/** Offers that stay open although their driver has been on another ride, or suspended, for longer than `promptMs`. */
function staleOffers(ride: Ride, { rides, fleet, faults }: DriverEvidence): string[] {
  return ride.offers.flatMap(({ offerId, driver: { driverId }, at, withdrawnAt }) => {
    if (offerId === ride.acceptedOfferId) return [];
    const until = Math.min(biddingEndOf(ride), withdrawnAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const elsewhere = rides.filter(({ mode, driver }) => mode === 'live' && driver?.driverId === driverId);
    const suspended = fleet.suspensions.filter((each) => each.driverId === driverId);
    const isStale = [...elsewhere.flatMap((other) => tripOf(other) ?? []), ...suspended].some((gone) => {
      const from = Math.max(gone.from, at.getTime());
      return Math.min(until, gone.until) - from > promptMs && isCalm(faults, from, until);
    });
    return isStale ? [`${ride._id}: ${offerId} stayed open for ${promptMs} ms while its driver was gone`] : [];
  });
}
