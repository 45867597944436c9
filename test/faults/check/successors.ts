import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Receipt } from '../world/receivers.ts';
import { groupBy } from './grouped.ts';

const mostInARow = 3;

/** Violations by rides that replace a ride whose driver cancelled. */
export function successorViolations(rides: readonly Ride[], receipts: readonly Receipt[]): string[] {
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  const successors = groupBy(
    rides.filter(({ replaces }) => replaces !== undefined),
    ({ replaces = '' }) => replaces,
  );
  const before = (ride: Ride): Ride[] => {
    const replaced = byId.get(ride.replaces ?? '');
    return replaced ? [replaced, ...before(replaced)] : [];
  };
  return [
    ...rides.flatMap((ride) => {
      const chain = before(ride);
      const own = successors.get(ride._id) ?? [];
      const faults = [
        ...endFaults(ride, own, isReplaced(ride) && chain.length < mostInARow),
        ...(ride.replaces ? startFaults(ride, chain) : []),
      ];
      return faults.map((fault) => `${ride._id}: ${fault}`);
    }),
    ...receipts.flatMap(({ eventId, namesMissing }) =>
      namesMissing ? [`${eventId} arrived, but names a ride that did not exist`] : [],
    ),
  ];
}

const isReplaced = ({ status, cancelledBy, driver, onDriverCancel }: Ride): boolean =>
  status === 'cancelled' && cancelledBy === 'driver' && driver !== undefined && onDriverCancel === 'rebid';

function endFaults(ride: Ride, own: readonly Ride[], needsOne: boolean): string[] {
  const faults: string[] = [];
  if (own.length !== (needsOne ? 1 : 0)) faults.push(`${own.length} rides replace it, instead of ${needsOne ? 1 : 0}`);
  const named = ride.events.flatMap(({ body }) => JSON.parse(body).replacedBy ?? []);
  const ids = own.map(({ _id }) => _id);
  if (named.join() !== ids.join())
    faults.push(`its events name the successor ${named.join()}, but it is ${ids.join()}`);
  if ((ride.replacedBy ?? '') !== ids.join())
    faults.push(`it is replaced by ${ids.join()}, but has ${ride.replacedBy}`);
  return faults;
}

const sameFields = [
  ...['keyId', 'mode', 'pickup', 'destination', 'fare', 'carType', 'rideType', 'passengerCount', 'distanceKm', 'notes'],
  ...['passenger', 'webhookUrl', 'reference', 'metadata', 'autoAccept', 'pickupAt', 'onDriverCancel'],
] as const;

/** `chain`: the replaced ride, the one that it replaced, and so on. */
function startFaults(ride: Ride, chain: readonly Ride[]): string[] {
  const [replaced] = chain;
  if (!replaced) return [`replaces ${ride.replaces}, which does not exist`];
  const faults: string[] = [];
  // The successor's own fare may be raised later.
  const first = { ...ride, fare: ride.firstFare ?? ride.fare };
  for (const field of sameFields) {
    const [own, other] = [first, replaced].map((each) => JSON.stringify(each[field as keyof Ride]));
    if (own !== other) faults.push(`has another ${field} than the ride that it replaces`);
  }
  const gone = new Set(chain.map(({ driver }) => driver?.driverId));
  if (ride.asked?.some(({ driverId }) => gone.has(driverId))) faults.push('was opened to a driver who cancelled');
  if (ride.offers.some(({ driver }) => gone.has(driver.driverId)))
    faults.push('has an offer of a driver who cancelled');
  return faults;
}
