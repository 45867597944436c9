import type { Point } from '../base/great-circle.ts';
import { type Update, updateDocuments } from '../base/mongo/batch.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import type { CarType, Need } from '../base/terms.ts';
import { cellsAt } from './cells.ts';
import type { RequestList } from './nearby.ts';
import { type DriverPosition, notJournaled, placesIndex, positions, seenRecently } from './positions.ts';

export const placed = ({ lat, lng }: Point) => ({ lat, lng, cells: cellsAt({ lat, lng }) });

/** In an update pipeline: true if the driver has no moving ride. */
export const withoutRide = { $eq: [{ $type: '$rideId' }, 'missing'] };

/** Puts a driver online at a place. The driver then receives requests, except during a ride. */
export async function goOnline(
  {
    driverId,
    carType,
    seats,
    equipment = [],
  }: { driverId: string; carType: CarType; seats: number; equipment?: Need[] },
  place: Point,
  now: Date,
): Promise<void> {
  const online = {
    ...placed(place),
    at: now,
    seenAt: '$$NOW',
    carType,
    seats,
    equipment,
    isOnline: true,
    freeSince: '$$NOW',
    freeFrom: '$$REMOVE',
  };
  const kept = {
    heading: { $ifNull: ['$heading', 0] },
    requests: { $ifNull: ['$requests', []] },
    onlines: { $add: [{ $ifNull: ['$onlines', 0] }, 1] },
  };
  await positions.updateOne({ _id: driverId }, [{ $set: { ...online, ...kept, available: withoutRide } }], {
    upsert: true,
    ...timeLimit(),
  });
}

/**
 * Puts a driver offline: the driver receives no further requests. An active ride continues. With `counts`, does nothing
 * if the driver has gone online since the counts were read.
 */
export async function goOffline(driverId: string, counts?: Pick<PositionCounts, 'onlines'>): Promise<void> {
  const filter = { _id: driverId, ...(counts && { onlines: counts.onlines ?? { $exists: false } }) };
  await positions.updateOne(filter, { $set: { isOnline: false, available: false } }, timeLimit());
}

/** Marks drivers as unavailable who have not reported for a minute. Their next report makes them available again. */
export async function markSilentUnavailable(now: Date): Promise<number> {
  const { $gte, $lte } = seenRecently(now);
  const { modifiedCount } = await positions.updateMany(
    { available: true, $or: [{ seenAt: { $lt: $gte } }, { seenAt: { $gt: $lte } }] },
    { $set: { available: false } },
    { writeConcern: notJournaled, ...timeLimit() },
  );
  return modifiedCount;
}

/** Marks those of these drivers as free who are available, so that the open rides nearby are opened to them. */
export async function markFree(driverIds: readonly string[]): Promise<void> {
  const filter = { _id: { $in: [...driverIds] }, available: true } as const;
  await positions.updateMany(filter, { $unset: { freeFrom: '' }, $currentDate: { freeSince: true } }, timeLimit());
}

/** Marks those of these drivers as free whom a dispatch round has passed over, because one of their requests has ended. */
export async function markRoom(driverIds: readonly string[]): Promise<void> {
  const filter = { _id: { $in: [...driverIds] }, isFull: true } as const;
  const change = { $unset: { isFull: '', freeFrom: '' }, $currentDate: { freeSince: true } } as const;
  await positions.updateMany(filter, change, timeLimit());
}

/**
 * Notes that a dispatch round has passed over drivers who had five open requests. A driver whose list has changed since
 * it was read, because of a decline for example, is marked as free instead.
 */
export async function noteFull(full: readonly Pick<RequestList, 'driverId' | 'requests'>[]): Promise<void> {
  const updates = full.map(
    ({ driverId, requests }): Update<DriverPosition> => ({
      filter: { _id: driverId, requests: { $eq: [...requests] } },
      change: { $set: { isFull: true } },
    }),
  );
  const outcomes = await updateDocuments(positions, updates);
  const changed = full.filter((_, index) => outcomes[index] !== true).map(({ driverId }) => driverId);
  if (changed.length > 0) await markFree(changed);
}

/** Notes that the radius of a ride ends in these cells, so the next reports of available drivers there mark them as free. */
export async function noteEdge(cells: readonly number[]): Promise<void> {
  const filter = { cells: { $in: [...cells] }, available: true, atEdge: { $exists: false } } as const;
  const options = { ...timeLimit(), hint: placesIndex, writeConcern: notJournaled };
  await positions.updateMany(filter, { $set: { atEdge: true } }, options);
}

/** The counters that `settleDriver` reads first: it changes the position only if they are still the same. */
type PositionCounts = Pick<DriverPosition, 'onlines' | 'rideNotes'>;

/** Reads the counters of a driver. Resolves with null for a driver who has never been online and never reported. */
export const readCounts = (driverId: string): Promise<PositionCounts | null> =>
  positions.findOne<PositionCounts>({ _id: driverId }, { ...timeLimit(), projection: { onlines: 1, rideNotes: 1 } });

/**
 * Records the driver's moving ride, or that there is none. The caller must read `counts` first, then the rides. Changes
 * nothing and resolves with false if another process has recorded a ride since `counts` were read. Compares counters,
 * not times, because MongoDB's clock can be set back.
 */
export async function noteRide(driverId: string, rideId: string | null, counts: PositionCounts): Promise<boolean> {
  const { rideNotes } = counts;
  const change = rideId
    ? { rideId, available: false }
    : { rideId: '$$REMOVE', available: '$isOnline', freeSince: '$$NOW', freeFrom: '$$REMOVE' };
  const { matchedCount } = await positions.updateOne(
    { _id: driverId, rideNotes: rideNotes ?? { $exists: false } },
    [{ $set: { ...change, rideNotes: (rideNotes ?? 0) + 1 } }],
    timeLimit(),
  );
  return matchedCount === 1;
}
