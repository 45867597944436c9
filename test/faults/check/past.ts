import { drivers } from '../../../shared/drivers/driver.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { rideSums } from '../../../shared/usage/ride-sums.ts';
import { statementParts, tripSums } from '../../../shared/usage/trip-sums.ts';
import { becomes } from '../../support/until.ts';
import { canaries } from '../load/canaries.ts';
import { allOf, makeTurnsDue, type Past } from '../load/past.ts';
import type { Receipt } from '../world/receivers.ts';
import type { World } from '../world/world.ts';
import { groupBy } from './grouped.ts';

/** The stored data about old rides at the end of a run. */
export type PastEvidence = Awaited<ReturnType<typeof gatherPast>>;

const driverIdOf = ({ driver }: Ride): string => driver?.driverId ?? '';

export async function gatherPast(past: Past) {
  const [stored, sums, trips, parts, rated] = await Promise.all([
    rides.find({ keyId: { $in: [...past.keyIds] } }).toArray(),
    rideSums.find({ _id: { $in: [...past.keyIds] } }).toArray(),
    tripSums.find({ _id: { $in: past.trips.map(({ accountId }) => accountId) } }).toArray(),
    statementParts.find({}).toArray(),
    drivers.find({ _id: { $in: past.trips.map(driverIdOf) } }).toArray(),
  ]);
  const daysOf = (months: Record<string, Record<string, number>>) =>
    Object.values(months).flatMap(Object.values<number>);
  return {
    past,
    stored: new Map((stored as Ride[]).map((ride) => [ride._id, ride])),
    /** The number of rides in the sums, by key id. */
    summed: new Map(
      sums.map(({ _id, rides, months }) => [_id, { rides, byDay: daysOf(months).reduce((all, one) => all + one, 0) }]),
    ),
    tripSums: trips,
    /** The ratings of drivers, by driver id. */
    ratings: new Map(rated.map(({ _id, ratings }) => [_id, ratings])),
    /** The rides listed in stored statements, by account and month. */
    lines: parts.map(({ _id, lines }) => ({ ..._id, rideIds: lines.map(({ rideId }) => rideId) })),
  };
}

/**
 * Waits until all old rides and their ratings are summed, erased and deleted as required, or `maxMs` has passed. The checker reports what
 * is missing then.
 */
export async function settlePast(
  world: Pick<World, 'past' | 'redis' | 'redisGroup'>,
  maxMs: number,
  withTurns = true,
): Promise<void> {
  let turnsAt = 0;
  const isSettled = async () => {
    if (pastViolations(await gatherPast(world.past), []).length === 0) return true;
    if (withTurns && Date.now() - turnsAt > 3_000) {
      await makeTurnsDue(world).catch(() => {});
      turnsAt = Date.now();
    }
    return false;
  };
  await becomes(isSettled, maxMs, 300);
}

const personal = [canaries.note, canaries.name, canaries.phone, canaries.address, '40.71281', '-74.00601'];

/** Violations in sums, statements, ratings or retention. `receipts` are all events that receivers got. */
export function pastViolations({ past, stored, ...sums }: PastEvidence, receipts: readonly Receipt[]): string[] {
  const bodies = new Map(receipts.map(({ eventId, body }) => [eventId.replace('evt_', 'ride_'), body]));
  return [
    ...usageViolations(past, sums),
    ...statementViolations(past, sums),
    ...ratingViolations(past, sums),
    ...past.toDelete.flatMap(({ _id }) =>
      past.hasSecondTurn && stored.has(_id) ? [`${_id} ended 420 days ago, but is not deleted`] : [],
    ),
    ...[...past.toErase, ...past.unsent].flatMap(({ _id }) => {
      const ride = stored.get(_id);
      if (!ride) return [`${_id}, which ended 40 days ago, is missing`];
      const left = personal.filter((text) => JSON.stringify(ride).includes(text));
      return left.length > 0 ? [`${_id} ended 40 days ago, but still contains ${left.length} personal texts`] : [];
    }),
    ...past.underWay.flatMap((ride) => {
      const isSame = JSON.stringify(stored.get(ride._id)) === JSON.stringify(ride);
      return isSame ? [] : [`${ride._id} is active, but the retention changed it`];
    }),
    ...past.unsent.flatMap(({ _id, events: [event] }) => {
      const ride = stored.get(_id);
      const [outcome] = ride?.events.map(({ delivery }) => delivery) ?? [];
      const body = bodies.get(`${_id}_1`);
      const isErasedTooSoon = ride?.erasedAt && outcome && outcome.at > ride.erasedAt;
      return [
        ...(outcome ? [] : [`${_id}: its unsent event has no outcome`]),
        ...(isErasedTooSoon || (body !== undefined && body !== event?.body)
          ? [`${_id} was erased while unsettled`]
          : []),
      ];
    }),
  ];
}

type Sums = Pick<PastEvidence, 'summed' | 'tripSums' | 'ratings' | 'lines'>;

/**
 * Compares the summed rides of each key. Keys with unsent rides are skipped: such a ride may be inserted during the
 * summing.
 */
function usageViolations(past: Past, { summed }: Sums): string[] {
  const unsent = new Set(past.unsent.map(({ keyId }) => keyId));
  const wanted = new Map<string, number>();
  for (const { keyId } of allOf(past)) if (!unsent.has(keyId)) wanted.set(keyId, (wanted.get(keyId) ?? 0) + 1);
  return [...wanted].flatMap(([keyId, count]) => {
    const sum = summed.get(keyId);
    const isRight = sum?.rides === count && sum.byDay === count;
    return isRight ? [] : [`the usage of ${keyId} is ${sum?.rides} (${sum?.byDay} by day) of ${count} rides`];
  });
}

function statementViolations(past: Past, { tripSums, lines }: Sums): string[] {
  const months = groupBy(past.trips, ({ accountId, statusAt }) => `${accountId} ${statusAt.toISOString().slice(0, 7)}`);
  return [...months].flatMap(([of, trips]) => {
    const [accountId = '', month = ''] = of.split(' ');
    const closed = tripSums.find(({ _id }) => _id === accountId)?.statements?.[month];
    const listed = lines.filter((part) => part.accountId === accountId && part.month === month);
    const rideIds = listed.flatMap((part) => part.rideIds).sort();
    // Each price ends with half a cent, which each line rounds up.
    const cents = trips.reduce((sum, { agreedPrice = 0 }) => sum + Math.round(agreedPrice * 100 + 1e-6), 0);
    const say = (what: string) => `the statement of ${accountId} for ${month} ${what}`;
    if (!closed) return [say('is not closed')];
    return [
      ...(closed.trips === trips.length && closed.cents === cents
        ? []
        : [say(`has ${closed.trips} trips for ${closed.cents} cents, but there were ${trips.length} for ${cents}`)]),
      ...(rideIds.join() ===
      trips
        .map(({ _id }) => _id)
        .sort()
        .join()
        ? []
        : [say('does not list its trips')]),
    ];
  });
}

function ratingViolations({ trips }: Past, { ratings }: Sums): string[] {
  return [...groupBy(trips, driverIdOf)].flatMap(([driverId, ofDriver]) => {
    const { count, sum } = ratings.get(driverId) ?? {};
    const stars = ofDriver.reduce((all, { rating }) => all + (rating?.stars ?? 0), 0);
    const isRight = count === ofDriver.length && sum === stars;
    return isRight ? [] : [`${driverId} has ${count} ratings with ${sum} stars of ${ofDriver.length} with ${stars}`];
  });
}
