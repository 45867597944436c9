import mongoose from 'mongoose';
import { sessionStore } from '../accounts/session-store.ts';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type CarType, carTypes } from '../base/terms.ts';
import { isWellFormedDriverKey } from '../keys/key-format.ts';

/** A driver's live offer on a ride, or, without `offerId`, the moving ride of the driver. */
export interface Commitment {
  rideId: string;
  offerId?: string;
}

/** A driver, with a secret key of their own. */
export interface DriverRecord {
  _id: string;
  name: string;
  phone: string;
  rating: number;
  vehicle: string;
  plate: string;
  carType: CarType;
  /** The number of passengers that the car can take. */
  seats: number;
  /** SHA-256 of the secret key. The secret key itself is not stored. */
  hash: string;
  hint: string;
  createdAt: Date;
  rotatedAt?: Date;
  suspendedAt?: Date;
  revokedAt?: Date;
  /**
   * The time at which the driver was suspended or revoked, while rides and offers of the driver are still to be ended.
   */
  leavesSince?: Date;
  /** The ride and the offers that are still to be ended of a driver who was resumed. Later ones are not affected. */
  left?: Commitment[];
}

const driverSchema = new mongoose.Schema<DriverRecord>(
  {
    _id: String,
    name: { type: String, required: true },
    phone: { type: String, required: true },
    rating: { type: Number, required: true },
    vehicle: { type: String, required: true },
    plate: { type: String, required: true },
    carType: { type: String, enum: carTypes, required: true },
    seats: { type: Number, required: true },
    hash: { type: String, required: true },
    hint: { type: String, required: true },
    createdAt: { type: Date, required: true },
    rotatedAt: Date,
    suspendedAt: Date,
    revokedAt: Date,
    leavesSince: Date,
    left: [{ _id: false, rideId: String, offerId: String }],
  },
  { versionKey: false, autoIndex: false },
);
driverSchema.index({ hash: 1 }, { unique: true });
// The sweeper looks here for drivers who were suspended or revoked.
driverSchema.index({ leavesSince: 1 }, { partialFilterExpression: { leavesSince: { $exists: true } } });

export const DriverModel = mongoose.model<DriverRecord>('Driver', driverSchema, 'drivers');
export const drivers = collection<DriverRecord>(DriverModel);

/** The driver that a request was made by, without the key. */
export type ActiveDriver = Pick<
  DriverRecord,
  'name' | 'phone' | 'rating' | 'vehicle' | 'plate' | 'carType' | 'seats'
> & { driverId: string };

const activeDriverFields = {
  hash: 1,
  name: 1,
  phone: 1,
  rating: 1,
  vehicle: 1,
  plate: 1,
  carType: 1,
  seats: 1,
  suspendedAt: 1,
  revokedAt: 1,
} as const;

/** Whether a driver's key is accepted. */
export const isActive = (driver: Pick<DriverRecord, 'suspendedAt' | 'revokedAt'>): boolean =>
  !driver.suspendedAt && !driver.revokedAt;

/** The drivers among these who are suspended or revoked. */
export async function inactiveAmong(driverIds: readonly string[]): Promise<string[]> {
  if (driverIds.length === 0) return [];
  const found = await drivers
    .find(
      { _id: { $in: [...driverIds] } },
      { ...timeLimit(), projection: { suspendedAt: 1, revokedAt: 1 }, batchSize: driverIds.length + 1 },
    )
    .toArray();
  return found.filter((driver) => !isActive(driver)).map(({ _id }) => _id);
}

/** The SHA-256 of a driver's secret key, or null for a text that has not the form of one. Pure. */
export const hashOfDriverKey = (secretKey: string): string | null =>
  isWellFormedDriverKey(secretKey) ? sha256(secretKey) : null;

/**
 * Resolves with the driver whose key has this hash, or with null when there is none or the driver is suspended or
 * revoked. Reads the database each time: a change holds on the next request, in every process. With `windowMs` it waits
 * that long for other requests, whose keys are then read in the same query.
 */
export function batchedFindDriver(windowMs = 0): (keyHash: string) => Promise<ActiveDriver | null> {
  const find = batchedFind<DriverRecord>(drivers, 'hash', activeDriverFields, timeLimit, windowMs);
  return async (keyHash) => {
    const found = await find(keyHash);
    return found && isActive(found) ? activeDriver(found) : null;
  };
}

function activeDriver({ _id, name, phone, rating, vehicle, plate, carType, seats }: DriverRecord): ActiveDriver {
  return { driverId: _id, name, phone, rating, vehicle, plate, carType, seats };
}

/**
 * The browsers in which a driver has signed in to the driver's page. A session holds the hash of the key that it was
 * made with, so that it ends when that key does; it does not hold the key.
 */
export const driverSessions = sessionStore<{ driverId: string; keyHash: string }>('DriverSession', 'driversessions', [
  'driverId',
  'keyHash',
]);
