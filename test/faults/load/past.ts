import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { AccountModel } from '../../../shared/accounts/account.ts';
import type { Config } from '../../../shared/base/config.ts';
import { newAccountId, newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { createDriver } from '../../../shared/drivers/manage-drivers.ts';
import { keys as keyRecords } from '../../../shared/keys/api-key.ts';
import { createKey, type NewKey, setWebhookUrl } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { dayMs, startOfMonth } from '../../../shared/usage/days.ts';
import { UsageProgressModel } from '../../../shared/usage/usage-progress.ts';
import { driverRatings } from '../../../workers/periodic/driver-ratings.ts';
import { retention } from '../../../workers/periodic/retention/retention.ts';
import { usageSums } from '../../../workers/periodic/usage/sum-usage.ts';
import type { Receivers } from '../world/receivers.ts';
import { type RedisServers, redisUrlsOf } from '../world/redis-urls.ts';
import { canaries } from './canaries.ts';

/** Old rides as they were inserted into the database, grouped by what the retention must do with them. */
export interface Past {
  keyIds: Set<string>;
  /** Ended 40 days ago: their personal data must be erased. */
  toErase: Ride[];
  /** Ended 40 days ago with an unsent event: the unchanged event must be sent before the erasure. */
  unsent: Ride[];
  /** Active for 40 days: must not change. */
  underWay: Ride[];
  /** Ended 420 days ago: must be deleted in the run of the retention that follows the sums. */
  toDelete: Ride[];
  hasSecondTurn: boolean;
  /** Live trips of earlier months: must remain as lines of statements, and their ratings count for their driver. */
  trips: Ride[];
}

export const emptyPast = (): Past => ({
  keyIds: new Set(),
  toErase: [],
  unsent: [],
  underWay: [],
  toDelete: [],
  hasSecondTurn: true,
  trips: [],
});

/** All old rides as one list. */
export const allOf = ({ toErase, unsent, underWay, toDelete, trips }: Past): Ride[] => [
  ...toErase,
  ...unsent,
  ...underWay,
  ...toDelete,
  ...trips,
];

/** The parts of a world that old rides need. */
interface PastWorld {
  config: Readonly<Config>;
  past: Past;
  receivers: Receivers;
  keys: Map<string, NewKey>;
}

type Old = Partial<Ride> & Pick<Ride, 'status' | 'statusAt'>;

/**
 * Adds an account with old rides. Rides that are due for deletion are added only before the first process starts,
 * because the retention assumes that no ride is ever created in a closed month.
 */
export async function addPast({ config, past, receivers, keys }: PastWorld, { isFirst = false } = {}): Promise<void> {
  const accountId = newAccountId();
  const ownerOf = async (mode: Mode) => {
    const key = await createKey(config, { accountId, name: 'past', mode });
    keys.set(key.keyId, key);
    past.keyIds.add(key.keyId);
    await setWebhookUrl(config, key.keyId, receivers.urlOf(key.keyId, 'prompt'), 'anyone');
    return { accountId, keyId: key.keyId, mode };
  };
  const [test, live, sending] = [await ownerOf('test'), await ownerOf('live'), await ownerOf('test')];
  const ago = (days: number) => new Date(Date.now() - days * dayMs);
  const old = (days: number, more: Partial<Ride> = {}): Old => ({ status: 'cancelled', statusAt: ago(days), ...more });
  const many = (count: number, made: (index: number) => Old) =>
    Array.from({ length: count }, (_, index) => made(index));
  const { driverId } = await createDriver({
    ...{ name: 'past', phone: '1', vehicle: 'past', plate: 'past', carType: 'regular', seats: 4 },
  });
  const lastMonth = startOfMonth(ago(0).toISOString().slice(0, 7)).getTime() - 1;
  const trip = (index: number): Old => ({
    status: 'completed',
    statusAt: new Date(lastMonth - index * 3 * dayMs),
    agreedPrice: 20.005 + index,
    driver: { driverId, name: canaries.name, phone: canaries.phone, rating: 5, vehicle: 'past', plate: 'past' },
    rating: { stars: 1 + (index % 5), comment: canaries.note, at: new Date() },
    ratingOwed: true,
    ...settled,
  });
  const added = {
    toErase: many(6, (index) => old(40 + index, settled)).map((ride) => pastRide(test, ride)),
    unsent: [] as Ride[],
    underWay: many(2, () => old(40, { status: 'in_progress', ...settled })).map((ride) => pastRide(test, ride)),
    toDelete: isFirst ? many(4, (index) => old(420 + index, settled)).map((ride) => pastRide(test, ride)) : [],
    trips: many(9, trip).map((ride) => pastRide(live, ride)),
  };
  // Inserts the keys and the account after the rides, so that the sums see all rides from the start.
  const ofSummed = { _id: { $in: [test.keyId, live.keyId] } };
  const summed = await keyRecords.find(ofSummed).toArray();
  await keyRecords.deleteMany(ofSummed);
  await rides.insertMany(Object.values(added).flat());
  for (const kind of Object.keys(added) as (keyof typeof added)[]) past[kind].push(...added[kind]);
  await keyRecords.insertMany(summed);
  await AccountModel.create({
    _id: accountId,
    email: `${accountId}@partner.example`,
    createdAt: new Date(),
    members: [],
  });
  // The key of these rides is not deleted, because the sender needs it.
  const unsent = many(3, (index) => old(40 + index)).map((ride) => pastRide(sending, ride));
  await rides.insertMany(unsent);
  past.unsent.push(...unsent);
}

const settled = { unsettled: 0, settledSeq: 1 } as const;

/** An old ride with all kinds of personal data and one event, which is unsettled by default. */
function pastRide(owner: Pick<Ride, 'accountId' | 'keyId' | 'mode'>, old: Old): Ride {
  const at = old.statusAt;
  const _id = newRideId(at.getTime());
  const body = JSON.stringify({ event: 'ride.status', rideId: _id, status: old.status, at: at.getTime() });
  const delivery = old.unsettled === 0 && { delivery: { outcome: 'delivered' as const, durationMs: 5, at } };
  return {
    _id,
    ...owner,
    pickup: { lat: 40.71281, lng: -74.00601, address: canaries.address },
    destination: { lat: 40.75801, lng: -73.98551, address: canaries.address },
    fare: 24.5,
    carType: 'regular',
    rideType: 'standard',
    passengerCount: 1,
    distanceKm: 6,
    notes: canaries.note,
    passenger: { name: canaries.name, phone: canaries.phone },
    trackToken: newTrackToken(),
    createdAt: at,
    biddingEndsAt: at,
    rev: 1,
    offers: [],
    timers: [],
    events: [{ seq: 1, event: 'ride.status', at, body, ...delivery }],
    lastEventAt: at,
    seq: 1,
    settledSeq: 0,
    unsettled: 1,
    ...(delivery === false && { unsettledSince: at }),
    ...old,
  } as Ride;
}

/**
 * Makes the sums, the count of ratings and the retention due: deletes the record of their last runs in Redis, and
 * requests new sums in MongoDB.
 */
export async function makeTurnsDue(world: RedisServers): Promise<void> {
  await UsageProgressModel.collection.updateOne({ _id: 'usage' } as never, { $set: { isAsked: true } });
  for (const url of await redisUrlsOf(world)) {
    const client = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null });
    client.on('error', () => {});
    // In a Cluster each server refuses the keys of other servers.
    for (const key of [usageSums.leaseKey, driverRatings.leaseKey, retention.leaseKey])
      await client.del(key).catch(() => {});
    client.disconnect();
  }
}

/** Repeatedly adds old rides and makes the sums and the retention due. Ignores failures, which faults cause. */
export async function keepAdding(world: PastWorld & RedisServers, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await setTimeout(15_000, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    await addPast(world).catch(() => {});
    await makeTurnsDue(world).catch(() => {});
  }
}
