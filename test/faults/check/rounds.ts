import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { DriverCall, Sight } from '../load/driver-at-work.ts';
import type { FleetLog } from '../load/fleet.ts';
import type { FleetDriver } from '../world/world.ts';
import {
  biddingEndOf,
  biddingStartOf,
  type DriverEvidence,
  isCalm,
  openedToFreeMs,
  promptMs,
  tripOf,
} from './live-history.ts';

/**
 * A ride with this many offers need not be opened to more drivers, and no ride need be opened to a driver with this
 * many requests.
 */
const enough = 5;

/**
 * Violations in the dispatch rounds of live rides: a ride is opened only to drivers who are online and whose car fits,
 * and, if no fault delays the rounds, finally to every driver who is online and free.
 */
export function roundViolations(evidence: DriverEvidence): string[] {
  const live = evidence.rides.filter(({ mode }) => mode === 'live');
  const times = evidence.fleet.drivers.map((driver) => ({ driver, online: onlineTimes(driver, evidence.fleet) }));
  const firstSights = firstSightsIn(evidence.fleet.sights);
  return live.flatMap((ride) => {
    const asked = new Set((ride.asked ?? []).map(({ driverId }) => driverId));
    const say = (what: string) => [`${ride._id}: ${what}`];
    const due = roundsDue(evidence, ride);
    if ((ride.rounds ?? 0) < due) return say(`had ${ride.rounds ?? 0} rounds, but ${due} were due`);
    if (asked.size < (ride.asked?.length ?? 0)) return say('was opened twice to a driver');
    return times.flatMap(({ driver, online }) => {
      const { driverId } = driver;
      if (!asked.has(driverId)) {
        return isDue(ride, driver, online, evidence, live) ? say(`was never opened to ${driverId}`) : [];
      }
      const from = biddingStartOf(ride);
      const until = Math.min(
        biddingEndOf(ride),
        firstSights.get(`${driverId} ${ride._id}`) ?? Number.POSITIVE_INFINITY,
      );
      const mayBeOnline = online.some((time) => time.asked <= until && time.left >= from);
      return [
        ...(serves(driver, ride) ? [] : say(`was opened to ${driverId}, whose car does not fit`)),
        ...(mayBeOnline ? [] : say(`was opened to ${driverId}, who was offline`)),
      ];
    });
  });
}

/**
 * The number of rounds that a ride must have had: those due at least `promptMs` before the end. 0 if a fault was near.
 */
function roundsDue({ dispatch: { rounds, repeatMs }, faults }: DriverEvidence, ride: Ride): number {
  const start = biddingStartOf(ride);
  const until = biddingEndOf(ride);
  const openMs = until - promptMs - start;
  if (openMs < 0 || !isCalm(faults, start, until)) return 0;
  const repeatedMs = openMs - (rounds.at(-1)?.afterMs ?? 0);
  return rounds.filter(({ afterMs }) => afterMs <= openMs).length + Math.max(0, Math.floor(repeatedMs / repeatMs));
}

const serves = ({ carType, seats, equipment = [] }: FleetDriver, ride: Ride): boolean =>
  (ride.carType === 'regular' || carType === ride.carType) &&
  seats >= ride.passengerCount &&
  (ride.needs ?? []).every((need) => equipment.includes(need));

/** A time online, in Unix ms. The exact start and end are unknown, so each has two bounds. */
interface Online {
  /** When the driver asked to go online. */
  asked: number;
  /** The driver is certainly online from this time until `until`. */
  from: number;
  until: number;
  /** The driver is certainly offline after this time. */
  left: number;
}

function onlineTimes({ driverId }: FleetDriver, { calls, suspensions }: FleetLog): Online[] {
  const never = Number.POSITIVE_INFINITY;
  const times: Online[] = [];
  const isAvailability = ({ operation }: DriverCall) => operation === 'online' || operation === 'offline';
  for (const { operation, status, at, ms } of calls.filter(
    (call) => call.driverId === driverId && isAvailability(call),
  )) {
    const last = times.at(-1);
    // A request without an answer may have taken effect at any time while it was in flight.
    if (operation === 'online' && status !== 401) {
      if (last) last.until = Math.min(last.until, at);
      times.push({ asked: at, from: status === 200 ? at + ms : never, until: never, left: never });
    } else if (last && operation === 'offline') {
      last.until = Math.min(last.until, at);
      if (status === 200) for (const time of times) time.left = Math.min(time.left, at + ms);
    }
  }
  // A suspension puts the driver offline, at the latest a moment after the suspension is lifted.
  for (const { askedAt, liftedAt } of suspensions.filter((each) => each.driverId === driverId)) {
    for (const time of times) if (time.asked <= liftedAt + promptMs) time.until = Math.min(time.until, askedAt);
  }
  return times;
}

/** When each driver first saw each ride, by `driverId rideId`. */
function firstSightsIn(sights: readonly Sight[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { driverId, seenAt, requests = [] } of sights) {
    for (const { rideId } of requests) {
      const which = `${driverId} ${rideId}`;
      first.set(which, Math.min(first.get(which) ?? seenAt, seenAt));
    }
  }
  return first;
}

/**
 * Whether the ride should have been opened to the driver: in the last two seconds of the bidding the driver was online,
 * free and had few requests, the ride had few offers, and no fault was near. Before these two seconds, the round with
 * the largest radius was due.
 */
function isDue(
  ride: Ride,
  driver: FleetDriver,
  online: readonly Online[],
  { faults, dispatch: { rounds } }: DriverEvidence,
  live: readonly Ride[],
): boolean {
  const until = biddingEndOf(ride);
  const from = until - openedToFreeMs;
  const lastRoundAt = biddingStartOf(ride) + (rounds.at(-1)?.afterMs ?? 0);
  if (from < lastRoundAt || !serves(driver, ride) || !isCalm(faults, from, until)) return false;
  if (!online.some((time) => time.from <= from && time.until >= until)) return false;
  const offers = ride.offers.filter(({ withdrawnAt }) => !withdrawnAt || withdrawnAt.getTime() > from);
  if (offers.length >= enough) return false;
  const { driverId } = driver;
  if (ride.excludedDrivers?.includes(driverId)) return false;
  const concurrent = live.filter((other) => biddingStartOf(other) <= until && biddingEndOf(other) >= from);
  const requests = concurrent.filter(({ asked = [] }) => asked.some((each) => each.driverId === driverId));
  const isBusy = live.some((other) => {
    const trip = other.driver?.driverId === driverId && tripOf(other);
    return trip && trip.from <= until && trip.until >= from;
  });
  return requests.length < enough && !isBusy;
}
