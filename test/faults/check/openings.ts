import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { Call } from '../load/request.ts';
import { isCalm, promptMs, timeOf } from './live-history.ts';

/** Violations by rides for later: they open at their time, not earlier, and get no offer before. */
export function openingViolations(
  rides: readonly Ride[],
  journal: readonly Call[],
  faults: readonly Fault[],
): string[] {
  const openedManually = new Set(journal.flatMap(({ step, rideId }) => (step === 'open' ? rideId : [])));
  return rides.flatMap((ride) => {
    if (!ride.pickupAt) return ride.biddingOpensAt ? [`${ride._id}: has an opening, but no pickup time`] : [];
    return faultsOf(ride, openedManually.has(ride._id), faults).map((fault) => `${ride._id}: ${fault}`);
  });
}

function faultsOf(ride: Ride, isManual: boolean, faults: readonly Fault[]): string[] {
  const planned = ride.biddingOpensAt?.getTime();
  if (planned === undefined) return ['has a pickup time, but no opening'];
  const opened = ride.openedAt?.getTime();
  const doneAt = opened ?? timeOf(ride, 'cancelled') ?? Number.POSITIVE_INFINITY;
  const lateMs = doneAt - planned;
  const late = lateMs > promptMs && isCalm(faults, planned, doneAt) ? [`opened ${lateMs} ms late`] : [];
  if (opened === undefined) {
    return [...late, ...(ride.offers.length > 0 || ride.driver ? ['has offers, but never opened'] : [])];
  }
  return [
    ...late,
    ...(lateMs < 0 && !isManual ? [`opened ${-lateMs} ms early`] : []),
    ...(ride.offers.some(({ at }) => at.getTime() < opened) ? ['has an offer from before its opening'] : []),
    ...(ride.biddingEndsAt.getTime() <= opened ? ['opened without any bidding time'] : []),
  ];
}
