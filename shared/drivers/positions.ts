import mongoose from 'mongoose';
import type { Point } from '../base/great-circle.ts';
import { batch, oneOf, type Update, updateDocuments } from '../base/mongo/batch.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import type { CarType, Need } from '../base/terms.ts';
import { cellsAt } from './cells.ts';

/** A driver's last position and availability. One small document for each driver. */
export interface DriverPosition {
  /** The driver's id. */
  _id: string;
  lat: number;
  lng: number;
  /** The cells of the position, for the search (cells.ts). */
  cells: number[];
  /** Degrees clockwise from north. A report without a heading keeps the last one. */
  heading: number;
  /** The time of the position, as `shownAt` computes it: never in the future. */
  at: Date;
  /** The time of the last report by the phone's clock, which may be wrong. It only orders the reports of this phone. */
  phoneAt?: Date;
  /** The time of the driver's last report or `goOnline`, by MongoDB's clock. */
  seenAt: Date;
  /** The time at which a report was last written. `goOnline` does not count. */
  reportedAt?: Date;
  /** True if the driver wants rides. */
  isOnline: boolean;
  /**
   * The number of times that the driver went online. With it, a late `goOffline` of the service does not undo a newer
   * `goOnline`.
   */
  onlines?: number;
  /** The driver's moving ride. The rides are authoritative; this copy keeps busy drivers out of the index. */
  rideId?: string;
  /** The number of writes of `rideId`. With it, an older state never replaces a newer one. */
  rideNotes?: number;
  /** True if the driver is online and has no ride. The index of places contains only available drivers. */
  available: boolean;
  carType?: CarType;
  seats?: number;
  equipment?: Need[];
  /** The rides that were opened to the driver. At most five of them are still open for offers. */
  requests: string[];
  /**
   * When the driver became available for open rides nearby: went online, was freed, came to another cell, or has room
   * for a request again. Set by the write that does this, and removed once the rides around were opened to the driver
   * (workers/periodic/free-drivers.ts).
   */
  freeSince?: Date;
  /**
   * The position before a report that alone made the driver available. Rides whose radius includes it have passed over
   * the driver, or were opened to the driver, so they are not new. Absent if every ride around may be new.
   */
  freeFrom?: Point;
  /**
   * True if a ride's radius ends in the driver's cell: the next report counts as coming to another cell, and removes
   * this mark.
   */
  atEdge?: true;
  /** True if a dispatch round passed over the driver, who had five open requests. */
  isFull?: true;
}

const positionSchema = recordSchema();
/** Finds available drivers by place, car type and seats. */
export const placesIndex = { cells: 1, carType: 1, seats: 1 } as const;
positionSchema.index(placesIndex, { partialFilterExpression: { available: true } });
// Finds the drivers who have not reported for a minute and must be marked as unavailable. They then leave both indexes.
positionSchema.index({ seenAt: 1 }, { partialFilterExpression: { available: true } });

/** The drivers who have become available and to whom the open rides around were not opened yet. */
export const freeDrivers = { freeSince: { $exists: true } } as const;
positionSchema.index({ freeSince: 1 }, { partialFilterExpression: freeDrivers });

export const PositionModel = mongoose.model('DriverPosition', positionSchema, 'positions');
export const positions = collection<DriverPosition>(PositionModel);

/** A driver who has not reported for this long receives no requests and counts as offline. */
export const maxReportAgeMs = 60_000;

/**
 * The condition that `seenAt` is within the last minute. It also allows up to a minute in the future, because MongoDB's
 * clock may have been set back.
 */
export const seenRecently = (now: Date) => around(now, maxReportAgeMs);

const around = (now: Date, ms: number) => ({ $gte: new Date(now.getTime() - ms), $lte: new Date(now.getTime() + ms) });

/** A crash of MongoDB may lose the last reports. That is harmless: the drivers report again. */
export const notJournaled = { w: 1, journal: false } as const;

/** A position that a driver reports. */
export interface Report extends Point {
  heading?: number;
  /** The time on the phone's clock, if the phone reports it. */
  at?: Date;
}

type ShownPosition = Required<Report>;

const placed = ({ lat, lng }: Point) => ({ lat, lng, cells: cellsAt({ lat, lng }) });

/** In an update pipeline: true if the driver has no moving ride. */
const withoutRide = { $eq: [{ $type: '$rideId' }, 'missing'] };

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

const minReportMs = 1_000;
/**
 * If no report was written for this long, the next one is written whatever time the phone reports, because the phone's
 * clock may have been set back.
 */
const staleForMs = 60_000;

/**
 * Writes reports of different drivers in one command. A report changes only `seenAt` if it is older than the last one
 * by the phone's clock, or if another process wrote a report within the last second.
 */
export async function writeReports(reports: ReadonlyMap<string, Report>, now: Date): Promise<void> {
  const entries = [...reports];
  const updates = entries.map(([driverId, { heading, at, ...place }]): Update<DriverPosition> => {
    const report = {
      ...{ ...placed(place), at: shownAt(at, now), seenAt: '$$NOW', reportedAt: now },
      ...(heading !== undefined && { heading }),
      ...(at && { phoneAt: at }),
    };
    const isStale = at && { phoneAt: { $gte: at }, reportedAt: around(now, staleForMs) };
    return {
      filter: { _id: driverId, $nor: [{ reportedAt: around(now, minReportMs - 1) }, ...(isStale ? [isStale] : [])] },
      change: [{ $set: { ...report, ...availability(report.cells) } }],
    };
  });
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  const unmatched = entries.filter((_, index) => outcomes[index] === false);
  if (unmatched.length > 0) await insertOrMarkSeen(unmatched, now);
}

/**
 * In an update pipeline: the availability of a driver who reports from these cells, and from when on the driver is
 * available, if that is new.
 */
function availability(cells?: readonly number[]) {
  const available = { $and: [{ $ifNull: ['$isOnline', false] }, withoutRide] };
  const isElsewhere = cells ? [{ $ne: [{ $arrayElemAt: ['$cells', 0] }, cells[0]] }] : [];
  // A silent driver stays `available` until the next sweep, but rounds already pass over the driver.
  const wasSilent = { $gt: [{ $abs: { $subtract: ['$$NOW', '$seenAt'] } }, maxReportAgeMs] };
  const wasAway = { $or: [{ $ne: ['$available', true] }, wasSilent] };
  const becomesFree = { $and: [available, { $or: [wasAway, { $eq: ['$atEdge', true] }, ...isElsewhere] }] };
  const isMarked = { $ne: [{ $type: '$freeSince' }, 'missing'] };
  const kept = { $cond: [isMarked, '$freeFrom', { lat: '$lat', lng: '$lng' }] };
  return {
    available,
    freeSince: { $cond: [becomesFree, '$$NOW', '$freeSince'] },
    freeFrom: { $cond: [becomesFree, { $cond: [wasAway, '$$REMOVE', kept] }, '$freeFrom'] },
    atEdge: { $cond: [becomesFree, '$$REMOVE', '$atEdge'] },
  };
}

/** The time reported by the phone, or `now` if that time is in the future or more than a minute old. */
function shownAt(at: Date | undefined, now: Date): Date {
  return at && at <= now && at.getTime() >= now.getTime() - staleForMs ? at : now;
}

/**
 * Inserts a document for each driver who has none yet. For a driver with a document, changes only `seenAt` and
 * `available`.
 */
async function insertOrMarkSeen(reports: readonly [string, Report][], now: Date): Promise<void> {
  await positions.bulkWrite(
    reports.map(([driverId, { heading = 0, at, ...place }]) => {
      const first = {
        ...{ ...placed(place), heading, at: shownAt(at, now), reportedAt: now, isOnline: false, requests: [] },
        ...(at && { phoneAt: at }),
      };
      const missing = Object.entries(first).map(([field, value]) => [field, { $ifNull: [`$${field}`, value] }]);
      const update = [{ $set: { ...Object.fromEntries(missing), seenAt: '$$NOW', ...availability() } }];
      return { updateOne: { filter: { _id: driverId }, update, upsert: true } };
    }),
    { ordered: false, writeConcern: notJournaled },
  );
}

/**
 * Marks drivers who have not reported for a minute as unavailable, which removes them from the index. Their next report
 * adds them again.
 */
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

/** Notes that a dispatch round has passed over these drivers, who had five open requests. */
export async function noteFull(driverIds: readonly string[]): Promise<void> {
  await positions.updateMany({ _id: { $in: [...driverIds] } }, { $set: { isFull: true } }, timeLimit());
}

/** Notes that the radius of a ride ends in these cells, so the next reports of available drivers there mark them as free. */
export async function noteEdge(cells: readonly number[]): Promise<void> {
  const filter = { cells: { $in: [...cells] }, available: true, atEdge: { $exists: false } } as const;
  const options = { ...timeLimit(), hint: placesIndex, writeConcern: notJournaled };
  await positions.updateMany(filter, { $set: { atEdge: true } }, options);
}

/**
 * The counters that `settleDriver` reads first. It then changes the position only if the counters are still the same.
 */
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

const shownFields = { lat: 1, lng: 1, heading: 1, at: 1, seenAt: 1, isOnline: 1, requests: 1 } as const;
export type StoredPosition = Pick<DriverPosition, '_id' | keyof typeof shownFields>;

/** Reads a driver's position. Concurrent reads share one query. */
export const readPosition = batch<string, StoredPosition | null>(async (driverIds) => {
  const found = await positions
    .find<StoredPosition>({ _id: oneOf(driverIds) }, { ...timeLimit(), projection: shownFields, batchSize: 201 })
    .toArray();
  const byId = new Map(found.map((position) => [position._id, position]));
  return driverIds.map((driverId) => byId.get(driverId) ?? null);
});

/** A driver's last position; null for a driver who has never reported. */
export async function findPosition(driverId: string): Promise<ShownPosition | null> {
  const found = await readPosition(driverId);
  return found && shownPosition(found);
}

export const shownPosition = ({ lat, lng, heading, at }: StoredPosition): ShownPosition => ({ lat, lng, heading, at });
