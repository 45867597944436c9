import type { Ride } from '../../../shared/rides/ride-types.ts';
import { canaries } from '../load/canaries.ts';
import type { Sight } from '../load/driver-at-work.ts';
import { type DriverEvidence, timeOf } from './live-history.ts';

/** Violations in the data that drivers were shown: their open requests and their current ride. */
export function sightViolations({ fleet, rides, journal }: DriverEvidence): string[] {
  const violations = new Set<string>();
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  const shownTo = rideViewsOf(rides, { journal, fleet });
  for (const sight of fleet.sights) {
    const say = (what: string) => violations.add(`${sight.driverId} was shown ${what}`);
    if (sight.requests) checkRequests(sight.requests, sight.driverId, byId, say);
    if (sight.ride) checkRide(sight.ride, sight, byId, say);
    if (sight.ride === undefined || sight.by === 'stream') continue;
    for (const { rideId, from, until, endedBy } of shownTo.get(sight.driverId) ?? []) {
      const isShown = sight.ride?.rideId === rideId;
      if (sight.askedAt > from && sight.seenAt < until && !isShown) say(`no ride while on ${rideId}`);
      if (sight.askedAt > endedBy && isShown) say(`${rideId} after its end`);
    }
  }
  return [...violations];
}

const mostRequests = 5;
const secrets = Object.values(canaries);

function checkRequests(
  requests: NonNullable<Sight['requests']>,
  driverId: string,
  byId: ReadonlyMap<string, Ride>,
  say: (what: string) => void,
): void {
  if (requests.length > mostRequests) say(`${requests.length} open requests`);
  const text = JSON.stringify(requests);
  if (secrets.some((secret) => text.includes(secret))) say('the passenger, notes or address of an open request');
  for (const { rideId, offer } of requests) {
    const ride = byId.get(rideId);
    if (ride?.mode !== 'live') say(`${rideId}, which is not a live ride`);
    if (!ride?.asked?.some((each) => each.driverId === driverId)) say(`${rideId}, which was not opened to the driver`);
    const isOwn = (each: Ride['offers'][number]) =>
      each.offerId === offer?.offerId && each.driver.driverId === driverId;
    if (offer && !ride?.offers.some(isOwn)) say(`an offer on ${rideId} that the ride does not have`);
  }
}

function checkRide(
  shown: NonNullable<Sight['ride']>,
  { driverId }: Sight,
  byId: ReadonlyMap<string, Ride>,
  say: (what: string) => void,
): void {
  const ride = byId.get(shown.rideId);
  if (ride?.mode !== 'live') say(`${shown.rideId}, which is not a live ride`);
  if (ride?.driver?.driverId !== driverId) say(`${shown.rideId}, for which another driver was chosen`);
  if (ride && timeOf(ride, shown.status) === undefined) say(`${shown.rideId} as ${shown.status}, which it never was`);
  const isWhole = shown.passenger?.phone === canaries.phone && shown.notes === ride?.notes;
  if (!isWhole) say(`${shown.rideId} without its passenger or notes`);
}

interface RideView {
  rideId: string;
  /** The driver must see the ride from the acknowledged accept to its end. Unix ms. */
  from: number;
  until: number;
  /** The driver must not see the ride after its acknowledged end. Unix ms. */
  endedBy: number;
}

/** When drivers must see their rides, by driver id. */
function rideViewsOf(
  rides: readonly Ride[],
  { journal, fleet }: Pick<DriverEvidence, 'journal' | 'fleet'>,
): Map<string, RideView[]> {
  const acknowledged = new Map<string, { accepted: number; ended: number }>();
  for (const { operation, rideId = '', status, at, ms } of [...journal, ...fleet.calls]) {
    if (status !== 200) continue;
    const { accepted, ended } = acknowledged.get(rideId) ?? {
      accepted: Number.POSITIVE_INFINITY,
      ended: Number.POSITIVE_INFINITY,
    };
    const isEnd = operation === 'cancel' || operation === 'complete';
    acknowledged.set(rideId, {
      accepted: operation === 'accept' ? Math.min(accepted, at + ms) : accepted,
      ended: isEnd ? Math.min(ended, at + ms) : ended,
    });
  }
  const shown = new Map<string, RideView[]>();
  for (const ride of rides) {
    const acks = acknowledged.get(ride._id);
    if (ride.mode !== 'live' || !ride.driver || !acks) continue;
    const until = timeOf(ride, 'completed', 'cancelled') ?? Number.POSITIVE_INFINITY;
    const { driverId } = ride.driver;
    const entry = { rideId: ride._id, from: acks.accepted, until, endedBy: acks.ended };
    shown.set(driverId, [...(shown.get(driverId) ?? []), entry]);
  }
  return shown;
}
