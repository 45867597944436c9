import mongoose from 'mongoose';
import { sessionStore } from '../accounts/session-store.ts';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection, findAmong, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { pick } from '../base/pick.ts';
import type { CarType, Need } from '../base/terms.ts';
import { isWellFormedDriverKey } from '../keys/key-format.ts';

/** A ride that a driver is committed to: with `offerId` by a live offer, without it as the assigned driver. */
export interface Commitment {
  rideId: string;
  offerId?: string;
}

/** A driver, with a secret key of their own. */
export interface DriverRecord {
  _id: string;
  name: string;
  phone: string;
  /** The number of the operator, which counts as `operatorWeight` ratings. */
  rating: number;
  /** The last ratings of rides (workers/periodic/driver-ratings.ts). `rev` counts the changes. */
  ratings?: { count: number; sum: number; rev: number };
  vehicle: string;
  plate: string;
  carType: CarType;
  /** The number of passengers that the car can take. */
  seats: number;
  /** The needs that the car and its driver can serve; missing if none. */
  equipment?: Need[];
  /** SHA-256 of the secret key. The secret key itself is not stored. */
  hash: string;
  hint: string;
  createdAt: Date;
  rotatedAt?: Date;
  suspendedAt?: Date;
  revokedAt?: Date;
  /** When the driver was suspended or revoked. Removed when the driver's rides and offers have been ended. */
  leavesSince?: Date;
  /** For a resumed driver: the ride and offers from before the resume that must still be ended. */
  left?: Commitment[];
}

const driverSchema = recordSchema();
driverSchema.index({ hash: 1 }, { unique: true });
// For the sweeper: finds suspended and revoked drivers whose rides and offers must still be ended.
driverSchema.index({ leavesSince: 1 }, { partialFilterExpression: { leavesSince: { $exists: true } } });

export const DriverModel = mongoose.model<DriverRecord>('Driver', driverSchema, 'drivers');
export const drivers = collection<DriverRecord>(DriverModel);

const operatorWeight = 10;

/** The rating that partners and passengers see, with two decimals: the mean of the last ratings (contract, section 10.21). */
export function ratingOf({ rating, ratings }: Pick<DriverRecord, 'rating' | 'ratings'>): number {
  if (!ratings) return rating;
  const mean = (operatorWeight * rating + ratings.sum) / (operatorWeight + ratings.count);
  return Math.round(mean * 100) / 100;
}

/** Drivers see an average only over this many rides, so that it reveals no single rating. */
const fewestForDriver = 5;

/** The driver who made a request, without the key. */
export type ActiveDriver = Pick<
  DriverRecord,
  'name' | 'phone' | 'rating' | 'vehicle' | 'plate' | 'carType' | 'seats'
> & {
  driverId: string;
  equipment?: Need[];
  /** The rating that the driver sees, and over how many rides it is an average. */
  own: { rating: number; ratedRides?: number };
};

const activeDriverFields = {
  hash: 1,
  name: 1,
  phone: 1,
  rating: 1,
  ratings: 1,
  vehicle: 1,
  plate: 1,
  carType: 1,
  seats: 1,
  equipment: 1,
  suspendedAt: 1,
  revokedAt: 1,
} as const;

/** True if a driver's key is accepted: the driver is neither suspended nor revoked. */
export const isActive = (driver: Pick<DriverRecord, 'suspendedAt' | 'revokedAt'>): boolean =>
  !driver.suspendedAt && !driver.revokedAt;

/** The given drivers who are suspended or revoked. */
export async function inactiveAmong(driverIds: readonly string[]): Promise<string[]> {
  const found = await findAmong(drivers, driverIds, { suspendedAt: 1, revokedAt: 1 });
  return found.filter((driver) => !isActive(driver)).map(({ _id }) => _id);
}

/** The SHA-256 of a driver's secret key; null for a text that does not have the form of a key. Pure. */
export const hashOfDriverKey = (secretKey: string): string | null =>
  isWellFormedDriverKey(secretKey) ? sha256(secretKey) : null;

/**
 * Resolves with the driver whose key has this hash; with null if there is none, or if the driver is suspended or
 * revoked. Reads the database each time, so a change applies from the next request, in every process. With `windowMs`,
 * waits that long for other requests and reads their keys in the same query.
 */
export function batchedFindDriver(windowMs = 0): (keyHash: string) => Promise<ActiveDriver | null> {
  const find = batchedFind<DriverRecord>(drivers, 'hash', activeDriverFields, timeLimit, windowMs);
  return async (keyHash) => {
    const found = await find(keyHash);
    return found && isActive(found) ? activeDriver(found) : null;
  };
}

function activeDriver(record: DriverRecord): ActiveDriver {
  const { _id: driverId, equipment, ratings } = record;
  const rating = ratingOf(record);
  return {
    driverId,
    ...pick({ ...record, rating }, 'name', 'phone', 'rating', 'vehicle', 'plate', 'carType', 'seats'),
    ...(equipment?.length && { equipment }),
    own:
      ratings && ratings.count >= fewestForDriver ? { rating, ratedRides: ratings.count } : { rating: record.rating },
  };
}

/** The sessions of the driver's page. Each has the hash of its key, so it ends when that is rotated or revoked. */
export const driverSessions = sessionStore<{ driverId: string; keyHash: string }>('DriverSession', 'driversessions', [
  'driverId',
  'keyHash',
]);
