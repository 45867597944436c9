import mongoose from 'mongoose';
import type { Point } from '../base/great-circle.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import type { CarType, Need } from '../base/terms.ts';

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
  /** Counted up by each `goOnline`, so that a late `goOffline` of the service does not undo a newer one. */
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
  /** True if a ride's radius ends in the driver's cell: the next report counts as a new cell, and removes this. */
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

/** `seenAt` within the last minute, or up to a minute ahead: MongoDB's clock may have been set back. */
export const seenRecently = (now: Date) => around(now, maxReportAgeMs);

export const around = (now: Date, ms: number) => ({
  $gte: new Date(now.getTime() - ms),
  $lte: new Date(now.getTime() + ms),
});

/** A crash of MongoDB may lose the last reports. That is harmless: the drivers report again. */
export const notJournaled = { w: 1, journal: false } as const;

/** A position with its heading and time. */
type ShownPosition = Pick<DriverPosition, 'lat' | 'lng' | 'heading' | 'at'>;

const shownFields = { lat: 1, lng: 1, heading: 1, at: 1, seenAt: 1, isOnline: 1, requests: 1 } as const;
export type StoredPosition = Pick<DriverPosition, '_id' | keyof typeof shownFields>;

/** Reads a driver's position. Concurrent reads share one query. */
export const readPosition = batchedFind<DriverPosition, StoredPosition>(positions, '_id', shownFields);

/** A driver's last position; null for a driver who has never reported. */
export async function findPosition(driverId: string): Promise<ShownPosition | null> {
  const found = await readPosition(driverId);
  return found && shownPosition(found);
}

export const shownPosition = ({ lat, lng, heading, at }: StoredPosition): ShownPosition => ({ lat, lng, heading, at });
