import mongoose from 'mongoose';
import { batch, oneOf } from '../batch.ts';
import type { CarType } from '../car-types.ts';
import type { Point } from '../haversine.ts';
import { type Update, updateDocuments } from '../mongo/commands.ts';
import { timeLimit } from '../mongo/durability.ts';
import { cellsAt } from './cells.ts';

/** Where each driver was last, and whether rides may be opened to the driver. One small document for each driver. */
export interface DriverPosition {
  /** The driver's id. */
  _id: string;
  lat: number;
  lng: number;
  /** Where that is, for the search: see cells.ts. */
  cells: number[];
  /** Degrees clockwise from north. A driver who reports none keeps the last one. */
  heading: number;
  /** When the driver was there, as the driver reports it, and never in the future. */
  at: Date;
  /** When the service heard from the driver last. */
  seenAt: Date;
  /** When a report was written last; going online does not count. */
  reportedAt?: Date;
  /** Whether the driver wants rides. */
  isOnline: boolean;
  /** The moving ride of the driver, as of `settledAt`. The rides decide; this keeps busy drivers out of the index. */
  rideId?: string;
  settledAt?: Date;
  /** Online and without a ride: only these are in the index of places. */
  available: boolean;
  carType?: CarType;
  seats?: number;
  /** The rides that were opened to the driver, at most five of which still take offers. */
  requests: string[];
}

const positionSchema = new mongoose.Schema({ _id: String }, { strict: false, versionKey: false, autoIndex: false });
/** A driver is found here by place, type of car and seats. */
export const placesIndex = { cells: 1, carType: 1, seats: 1 } as const;
positionSchema.index(placesIndex, { partialFilterExpression: { available: true } });
// Who has not reported for a minute is found here and leaves both indexes.
positionSchema.index({ seenAt: 1 }, { partialFilterExpression: { available: true } });

export const PositionModel = mongoose.model('DriverPosition', positionSchema, 'positions');
export const positions = PositionModel.collection as unknown as mongoose.mongo.Collection<DriverPosition>;

/** A driver who has not reported for this long is not asked, and counts as offline. */
export const reportLifeMs = 60_000;

/** Losing the last reports in a crash of MongoDB does no harm: the drivers report again. */
export const notJournaled = { w: 1, journal: false } as const;

/** Where a driver is, as the driver reports it. */
export interface Report extends Point {
  heading?: number;
  at: Date;
}

/** A report as it is shown. */
export type ShownPosition = Required<Report>;

const placed = ({ lat, lng }: Point) => ({ lat, lng, cells: cellsAt({ lat, lng }) });

/** In an update's pipeline: whether a driver who is online may be asked. */
const withoutRide = { $eq: [{ $type: '$rideId' }, 'missing'] };

/** Puts a driver online at a place. Rides are opened to the driver from now on, unless the driver is on one. */
export async function goOnline(
  { driverId, carType, seats }: { driverId: string; carType: CarType; seats: number },
  place: Point,
  now: Date,
): Promise<void> {
  const online = { ...placed(place), at: now, seenAt: now, carType, seats, isOnline: true };
  const kept = { heading: { $ifNull: ['$heading', 0] }, requests: { $ifNull: ['$requests', []] } };
  await positions.updateOne({ _id: driverId }, [{ $set: { ...online, ...kept, available: withoutRide } }], {
    upsert: true,
    ...timeLimit(),
  });
}

/** Takes a driver offline: no further ride is opened to the driver. A ride that the driver is on goes on. */
export async function goOffline(driverId: string): Promise<void> {
  await positions.updateOne({ _id: driverId }, { $set: { isOnline: false, available: false } }, timeLimit());
}

const minReportMs = 1_000;

/**
 * Writes reports, each of another driver, in one command. A report that is older than the driver's last one, or that
 * another process has written within the last second, changes nothing.
 */
export async function writeReports(reports: ReadonlyMap<string, Report>, now: Date): Promise<void> {
  const entries = [...reports];
  const updates = entries.map(([driverId, { heading, at, ...place }]): Update<DriverPosition> => {
    const report = { ...placed(place), at, seenAt: now, reportedAt: now, ...(heading !== undefined && { heading }) };
    const lately = new Date(now.getTime() - minReportMs);
    return {
      filter: { _id: driverId, at: { $lt: at }, $nor: [{ reportedAt: { $gt: lately } }] },
      change: [{ $set: { ...report, available: { $and: ['$isOnline', withoutRide] } } }],
    };
  });
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  const unmatched = entries.filter((_, index) => outcomes[index] === false);
  if (unmatched.length > 0) await insertNew(unmatched, now);
}

/** A driver who has never been online has no document yet. */
async function insertNew(reports: readonly [string, Report][], now: Date): Promise<void> {
  await positions.bulkWrite(
    reports.map(([driverId, { heading = 0, at, ...place }]) => ({
      updateOne: {
        filter: { _id: driverId },
        update: {
          $setOnInsert: {
            ...{ ...placed(place), heading, at, seenAt: now, reportedAt: now },
            ...{ isOnline: false, available: false, requests: [] },
          },
        },
        upsert: true,
      },
    })),
    { ordered: false, writeConcern: notJournaled },
  );
}

/** Takes drivers out of the index who have not reported for a minute. Their next report brings them back. */
export async function dropSilent(now: Date): Promise<number> {
  const { modifiedCount } = await positions.updateMany(
    { available: true, seenAt: { $lt: new Date(now.getTime() - reportLifeMs) } },
    { $set: { available: false } },
    { writeConcern: notJournaled, ...timeLimit() },
  );
  return modifiedCount;
}

/**
 * Notes which moving ride a driver has, or none, as the rides told it at `asOf`. What was told earlier changes nothing,
 * so that two runs at a time leave the later truth.
 */
export async function noteRide(driverId: string, rideId: string | null, asOf: Date): Promise<void> {
  const isNews = rideId ? { settledAt: { $gte: asOf } } : { settledAt: { $gt: asOf } };
  const change = rideId
    ? { rideId, settledAt: asOf, available: false }
    : { rideId: '$$REMOVE', settledAt: asOf, available: '$isOnline' };
  await positions.updateOne({ _id: driverId, $nor: [isNews] }, [{ $set: change }], timeLimit());
}

const shownFields = { lat: 1, lng: 1, heading: 1, at: 1, seenAt: 1, isOnline: 1, requests: 1 } as const;
export type StoredPosition = Pick<DriverPosition, '_id' | keyof typeof shownFields>;

/** Reads where drivers are. Concurrent reads share one query. */
export const readPosition = batch<string, StoredPosition | null>(async (driverIds) => {
  const found = await positions
    .find<StoredPosition>({ _id: oneOf(driverIds) }, { ...timeLimit(), projection: shownFields, batchSize: 201 })
    .toArray();
  const byId = new Map(found.map((position) => [position._id, position]));
  return driverIds.map((driverId) => byId.get(driverId) ?? null);
});

/** Where a driver was last; null for a driver who never reported. */
export async function findPosition(driverId: string): Promise<ShownPosition | null> {
  const found = await readPosition(driverId);
  return found && shownPosition(found);
}

export const shownPosition = ({ lat, lng, heading, at }: StoredPosition): ShownPosition => ({ lat, lng, heading, at });
